-- Progress looks for legs that are held again, of which there are few or none: it reads no other leg for that.
CREATE INDEX experiment_legs_held ON experiment_legs (experiment) WHERE held IS NOT NULL;
