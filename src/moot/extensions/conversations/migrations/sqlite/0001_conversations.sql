-- Imported conversations of other systems, read only. An import is identified by its source; its row is
-- written with each batch, so that an interrupted import is continued.
CREATE TABLE imports (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    source TEXT NOT NULL, -- without a password
    state TEXT NOT NULL,
    cursor TEXT NOT NULL, -- the position of the running import; empty when none runs
    passes INTEGER NOT NULL,
    report TEXT NOT NULL,
    started_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE conversations (
    place INTEGER PRIMARY KEY, -- in the order of import
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

-- The events of a conversation are stored together in order: loading one reads a few adjacent pages.
CREATE TABLE conversation_events (
    conversation INTEGER NOT NULL,
    order_key TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    ts INTEGER NOT NULL,
    created_at TEXT,
    segments TEXT NOT NULL,
    metadata TEXT,
    legacy TEXT, -- what the imported row had and the segments cannot hold
    digest BLOB NOT NULL, -- of the imported row: shows whether it has changed
    PRIMARY KEY (conversation, order_key, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX conversation_events_by_id ON conversation_events (conversation, id);
