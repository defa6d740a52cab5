-- One row per debate. It changes with the turns of a debate, never with its words.
CREATE TABLE debates (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- rises with every debate: lists walk it backwards
    id text COLLATE "C" NOT NULL UNIQUE,
    owner text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    motion text NOT NULL,
    folded text COLLATE "C" NOT NULL, -- the motion as searches compare it
    format text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    turned_at timestamptz NOT NULL, -- in no index, or every turn would touch all of them
    ended_at timestamptz, -- only while it counts as ended
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

-- The hot part of a debate: words in flight touch this row and `events`, and nothing else. Half of each page
-- stays free, so that a row's next version finds room beside it and no index has to learn of it.
CREATE TABLE heads (
    debate_id text COLLATE "C" PRIMARY KEY,
    place bigint NOT NULL,
    version bigint NOT NULL, -- the seq of its last event
    turning bigint NOT NULL, -- the seq of the last one that is no word
    epoch bigint NOT NULL,
    runner text COLLATE "C" NOT NULL,
    updated_at timestamptz NOT NULL,
    bytes bigint NOT NULL -- of its events and of the requests that belong to it
) WITH (fillfactor = 50);

CREATE INDEX heads_held ON heads (debate_id) WHERE runner <> '';

-- The log. The body is JSON but no jsonb, which refuses \u0000. No foreign key: it would look up `debates` for
-- every word.
CREATE TABLE events (
    debate_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    epoch bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (debate_id, seq)
);

-- What each append did, so that one whose answer was lost can be asked for, and is never carried out twice.
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

-- By what a session is found again: the id of a response, the digest of what was said last, the id that it
-- had elsewhere.
CREATE TABLE marks (
    mark text COLLATE "C" NOT NULL,
    debate bigint NOT NULL REFERENCES debates (place) ON DELETE CASCADE,
    PRIMARY KEY (mark, debate)
);

CREATE INDEX marks_by_debate ON marks (debate);

-- Of a token only its digest is kept: what is read here lets nobody in.
CREATE TABLE tokens (
    name text COLLATE "C" PRIMARY KEY,
    digest text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz
);

-- Who may come to a debate, and as what; they go with it. As with tokens, only the digest is kept.
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
