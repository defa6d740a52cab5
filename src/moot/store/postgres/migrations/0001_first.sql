-- One row per debate. It changes with each turn, not with each token.
CREATE TABLE debates (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- rises with every debate: lists read it backwards
    id text COLLATE "C" NOT NULL UNIQUE,
    owner text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    motion text NOT NULL,
    folded text COLLATE "C" NOT NULL, -- the motion as searches compare it
    format text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    turned_at timestamptz NOT NULL, -- in no index: otherwise each turn would update every index
    ended_at timestamptz, -- NULL while the debate is not over
    summary text NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX debates_by_owner ON debates (owner, place);
CREATE INDEX debates_by_status ON debates (status, place);
CREATE INDEX debates_by_owner_and_status ON debates (owner, status, place);
CREATE INDEX debates_by_format ON debates (format, place);
CREATE INDEX debates_by_owner_and_format ON debates (owner, format, place);
CREATE INDEX debates_by_opening ON debates (created_at);
CREATE INDEX debates_ended ON debates (ended_at) WHERE ended_at IS NOT NULL;

-- Not every server has the extension, and not every user may install it: searches are slower without.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX debates_by_motion ON debates USING gin (folded gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN
    NULL;
END
$$;

-- The part of a debate that each token updates, together with `events`. Half of each page stays free, so that
-- the next version of a row fits in the same page and no index is updated.
CREATE TABLE heads (
    debate_id text COLLATE "C" PRIMARY KEY,
    place bigint NOT NULL,
    version bigint NOT NULL, -- the seq of its last event
    turning bigint NOT NULL, -- the seq of the last event other than a token
    epoch bigint NOT NULL,
    runner text COLLATE "C" NOT NULL,
    updated_at timestamptz NOT NULL,
    bytes bigint NOT NULL -- of its events and their stored requests
) WITH (fillfactor = 50);

CREATE INDEX heads_held ON heads (debate_id) WHERE runner <> '';

-- The log. The body is JSON as text: jsonb refuses \u0000. No foreign key: it would look up `debates` for every
-- token.
CREATE TABLE events (
    debate_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    epoch bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (debate_id, seq)
);

-- The result of each append, so that it can be read if the reply was lost; no append is repeated.
CREATE TABLE landed (
    writer uuid NOT NULL,
    batch bigint NOT NULL,
    bases bigint[] NOT NULL, -- the version of each debate before it; NULL where nothing was written
    places bigint[] NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (writer, batch)
);

CREATE INDEX landed_by_time ON landed USING brin (at);

CREATE TABLE bodies (
    debate_id text COLLATE "C" NOT NULL REFERENCES debates (id) ON DELETE CASCADE,
    digest text COLLATE "C" NOT NULL,
    packed boolean NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (debate_id, digest)
);

CREATE TABLE requests (
    client text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    body_hash text COLLATE "C" NOT NULL,
    debate_id text COLLATE "C" NOT NULL REFERENCES debates (id) ON DELETE CASCADE,
    first bigint NOT NULL,
    seq bigint NOT NULL,
    expires timestamptz NOT NULL,
    PRIMARY KEY (client, key)
);

CREATE INDEX requests_by_debate ON requests (debate_id);
CREATE INDEX requests_by_expiry ON requests (expires);

-- Which models speak or judge in a debate, by label (`anthropic/claude-haiku-5-5`) and by bare name.
CREATE TABLE casts (
    model text COLLATE "C" NOT NULL,
    debate bigint NOT NULL REFERENCES debates (place) ON DELETE CASCADE,
    PRIMARY KEY (model, debate)
);

CREATE INDEX casts_by_debate ON casts (debate);

-- Keys by which a session is found: the id of a response, the digest of the last text, the id in the system
-- from which it was imported.
CREATE TABLE marks (
    mark text COLLATE "C" NOT NULL,
    debate bigint NOT NULL REFERENCES debates (place) ON DELETE CASCADE,
    PRIMARY KEY (mark, debate)
);

CREATE INDEX marks_by_debate ON marks (debate);

-- Only the digest of a token is stored: it cannot be used in place of the token.
CREATE TABLE tokens (
    name text COLLATE "C" PRIMARY KEY,
    digest text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz
);

-- Invitations to a debate, with their roles; deleted with the debate. Only the digest of the token is stored.
CREATE TABLE invitations (
    debate_id text COLLATE "C" NOT NULL REFERENCES debates (id) ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL UNIQUE,
    role text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    seat text COLLATE "C",
    judge text COLLATE "C",
    many boolean NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (debate_id, name)
);
