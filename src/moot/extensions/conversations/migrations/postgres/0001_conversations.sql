-- Imported conversations of other systems, read only; the same as in SQLite. JSON is stored as text, byte
-- for byte: jsonb would sort its members and refuses NUL.
CREATE TABLE imports (
    id text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    source text NOT NULL, -- without a password
    state text COLLATE "C" NOT NULL,
    cursor text NOT NULL, -- the position of the running import; empty when none runs
    passes bigint NOT NULL,
    report text NOT NULL,
    started_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE TABLE conversations (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order of import
    id text COLLATE "C" NOT NULL UNIQUE,
    import text COLLATE "C" NOT NULL REFERENCES imports (id),
    owner text COLLATE "C" NOT NULL,
    source text NOT NULL,
    folded text COLLATE "C" NOT NULL, -- the source as searches compare it
    events bigint NOT NULL,
    first_ts bigint NOT NULL,
    last_ts bigint NOT NULL
);

CREATE INDEX conversations_by_import ON conversations (import, place);
CREATE INDEX conversations_by_owner ON conversations (owner, place);

-- Keys are compared by their bytes, whatever the locale of the server: they give the order of the events.
CREATE TABLE conversation_events (
    conversation bigint NOT NULL,
    order_key text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    ts bigint NOT NULL,
    created_at text,
    segments text NOT NULL, -- in the order of their output_index
    metadata text,
    legacy text, -- what the imported row had and the segments cannot hold
    digest bytea NOT NULL, -- of the imported row: shows whether it has changed
    PRIMARY KEY (conversation, order_key, id)
);

CREATE UNIQUE INDEX conversation_events_by_id ON conversation_events (conversation, id);

-- Events by what is in their segments: ... WHERE replace(segments, '\u0000', '\ufffd')::jsonb @> '[{"type":
-- "reasoning"}]'. A query has to use the same expression. It never fails, whatever the text contains.
CREATE INDEX conversation_events_by_segment ON conversation_events
USING gin ((replace(segments, '\u0000', '\ufffd')::jsonb) jsonb_path_ops);
