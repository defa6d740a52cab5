-- Legs whose debates are held again after a result: the epoch of the debate up to which a command may let it
-- go on. NULL: it is not.
ALTER TABLE experiment_legs ADD COLUMN held bigint;
