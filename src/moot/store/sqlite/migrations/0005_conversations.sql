-- Conversations of other systems, brought here to be read. An import is known by where it came from; its row
-- is written with each batch, so it goes on where it was broken off.
CREATE TABLE imports (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    source TEXT NOT NULL, -- without a password
    state TEXT NOT NULL,
    cursor TEXT NOT NULL, -- how far the pass under way has come; empty between two passes
    passes INTEGER NOT NULL,
    report TEXT NOT NULL,
    started_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE conversations (
    place INTEGER PRIMARY KEY, -- in the order in which they came
    id TEXT NOT NULL UNIQUE,
    import TEXT NOT NULL REFERENCES imports (id),
    owner TEXT NOT NULL,
    source TEXT NOT NULL,
    events INTEGER NOT NULL,
    first_ts INTEGER NOT NULL,
    last_ts INTEGER NOT NULL
);

CREATE INDEX conversations_by_import ON conversations (import);
CREATE INDEX conversations_by_owner ON conversations (owner);

-- The events of a conversation lie together, in their order: to load one is to read a few pages in a row.
CREATE TABLE conversation_events (
    conversation INTEGER NOT NULL,
    order_key TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    ts INTEGER NOT NULL,
    created_at TEXT,
    segments TEXT NOT NULL,
    metadata TEXT,
    legacy TEXT, -- what the segments cannot say of the row that they came from
    digest BLOB NOT NULL, -- of that row: by it a changed one is known
    PRIMARY KEY (conversation, order_key, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX conversation_events_by_id ON conversation_events (conversation, id);
