-- One row per debate. Its version and the time of its last event are read from the log: tokens of a speech do
-- not update this table.
CREATE TABLE debates (
    place INTEGER PRIMARY KEY, -- rises with every debate: lists read it backwards
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    motion TEXT NOT NULL,
    format TEXT NOT NULL,
    turning INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    runner TEXT NOT NULL,
    created_at TEXT NOT NULL,
    summary TEXT NOT NULL
);

-- Every index ends in the rowid, that is in `place`.
CREATE INDEX debates_held ON debates (runner) WHERE runner <> '';
CREATE INDEX debates_by_status ON debates (status);
CREATE INDEX debates_by_owner ON debates (owner);
CREATE INDEX debates_by_owner_and_status ON debates (owner, status);

-- The log; the events of a debate are stored together. No foreign key: it would look up `debates` for every
-- token.
CREATE TABLE events (
    debate_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (debate_id, seq)
) WITHOUT ROWID;

-- The newest events in the order of writing; they are moved to `events` a thousand at a time. A commit then
-- writes a few pages, not one for every running debate. The events of a debate follow those in `events`.
CREATE TABLE fresh (
    place INTEGER PRIMARY KEY,
    debate_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    body TEXT NOT NULL
);

CREATE UNIQUE INDEX fresh_by_debate ON fresh (debate_id, seq);

CREATE TABLE bodies (
    debate_id TEXT NOT NULL REFERENCES debates (id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    packed INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (debate_id, digest)
);

CREATE TABLE requests (
    client TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    debate_id TEXT NOT NULL REFERENCES debates (id) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (client, key)
) WITHOUT ROWID;

CREATE INDEX requests_by_debate ON requests (debate_id);
CREATE INDEX requests_by_expiry ON requests (expires);

-- The number of debates of each owner in each status, so that rows need not be counted.
CREATE TABLE tallies (
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (owner, status)
) WITHOUT ROWID;

CREATE TRIGGER debate_opened AFTER INSERT ON debates BEGIN
    INSERT INTO tallies (owner, status, n) VALUES (NEW.owner, NEW.status, 1)
    ON CONFLICT (owner, status) DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER debate_moved AFTER UPDATE OF status ON debates WHEN OLD.status <> NEW.status BEGIN
    UPDATE tallies SET n = n - 1 WHERE owner = OLD.owner AND status = OLD.status;
    INSERT INTO tallies (owner, status, n) VALUES (NEW.owner, NEW.status, 1)
    ON CONFLICT (owner, status) DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER debate_deleted AFTER DELETE ON debates BEGIN
    UPDATE tallies SET n = n - 1 WHERE owner = OLD.owner AND status = OLD.status;
    DELETE FROM tallies WHERE owner = OLD.owner AND n = 0;
END;
