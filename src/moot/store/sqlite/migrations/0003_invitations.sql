-- Invitations to a debate, with their roles; deleted with the debate. Only the digest of the token is stored.
-- Members of a large audience are looked up by digest, one row at a time.
CREATE TABLE invitations (
    debate_id TEXT NOT NULL REFERENCES debates (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    seat TEXT,
    judge TEXT,
    many INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    PRIMARY KEY (debate_id, name)
);
