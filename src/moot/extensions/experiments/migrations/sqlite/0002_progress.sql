-- What progress and the balance of motions are counted by, beside the result of each leg, and in an index, so
-- that no result is read for it. beat_at: when the process that runs the experiment was last alive.
ALTER TABLE experiments ADD COLUMN beat_at TEXT;
ALTER TABLE experiment_legs ADD COLUMN status TEXT;
ALTER TABLE experiment_legs ADD COLUMN pro_share REAL;
UPDATE experiment_legs SET status = json_extract(result, '$.status') WHERE result IS NOT NULL;
CREATE INDEX experiment_legs_progress ON experiment_legs (experiment, status, reserved, pro_share, leg);
