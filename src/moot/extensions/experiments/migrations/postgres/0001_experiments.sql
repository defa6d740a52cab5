-- Experiments, and the debate of each of their legs. A leg is reserved before its debate is opened, and stays
-- when the debate is deleted: the money was spent. Amounts are millionths of a dollar.
CREATE TABLE experiments (
    name text COLLATE "C" PRIMARY KEY,
    definition text NOT NULL,
    state text NOT NULL,
    epoch bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE TABLE experiment_legs (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- rises with every leg
    experiment text COLLATE "C" NOT NULL,
    leg text COLLATE "C" NOT NULL,
    debate_id text COLLATE "C" NOT NULL UNIQUE,
    reserved bigint NOT NULL,
    result text,
    UNIQUE (experiment, leg)
);
