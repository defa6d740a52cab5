-- Experiments, and the debate of each of their legs. A leg is reserved before its debate is opened, and stays
-- when the debate is deleted: the money was spent. Amounts are millionths of a dollar.
CREATE TABLE experiments (
    name TEXT PRIMARY KEY,
    definition TEXT NOT NULL,
    state TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE experiment_legs (
    place INTEGER PRIMARY KEY, -- rises with every leg
    experiment TEXT NOT NULL,
    leg TEXT NOT NULL,
    debate_id TEXT NOT NULL UNIQUE,
    reserved INTEGER NOT NULL,
    result TEXT,
    UNIQUE (experiment, leg)
);
