-- What progress and the balance of motions are counted by, beside the result of each leg, and in an index, so
-- that no result is read for it. beat_at: when the process that runs the experiment was last alive.
ALTER TABLE experiments ADD COLUMN beat_at timestamptz;
ALTER TABLE experiment_legs ADD COLUMN status text;
ALTER TABLE experiment_legs ADD COLUMN pro_share double precision;
UPDATE experiment_legs SET status = result::json ->> 'status' WHERE result IS NOT NULL;
CREATE INDEX experiment_legs_progress ON experiment_legs (experiment, status) INCLUDE (reserved, pro_share);
