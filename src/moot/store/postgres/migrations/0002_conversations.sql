-- Conversations of other systems, brought here to be read: what 0005 is to the file. JSON is kept as text, byte
-- for byte: jsonb would sort its members, and knows no NUL.
CREATE TABLE imports (
    id text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    source text NOT NULL, -- without a password
    state text COLLATE "C" NOT NULL,
    cursor text NOT NULL, -- how far the pass under way has come; empty between two passes
    passes bigint NOT NULL,
    report text NOT NULL,
    started_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE TABLE conversations (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order in which they came
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

-- Keys are compared by their bytes, whatever the language of the server: by them the events are in order.
CREATE TABLE conversation_events (
    conversation bigint NOT NULL,
    order_key text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    ts bigint NOT NULL,
    created_at text,
    segments text NOT NULL, -- in the order of their output_index
    metadata text,
    legacy text, -- what the segments cannot say of the row that they came from
    digest bytea NOT NULL, -- of that row: by it a changed one is known
    PRIMARY KEY (conversation, order_key, id)
);

CREATE UNIQUE INDEX conversation_events_by_id ON conversation_events (conversation, id);

-- Events by what is in their segments: ... WHERE replace(segments, '\u0000', '\ufffd')::jsonb @> '[{"type":
-- "reasoning"}]'. The same expression has to stand in the question. It never fails, whatever the text holds.
CREATE INDEX conversation_events_by_segment ON conversation_events
USING gin ((replace(segments, '\u0000', '\ufffd')::jsonb) jsonb_path_ops);
