-- The time of the last event that is not a token of a speech, in seconds since 1970: finds debates that ended
-- long ago.
ALTER TABLE debates ADD COLUMN turned_at INTEGER NOT NULL DEFAULT 0;

UPDATE debates SET turned_at = CAST(strftime('%s', coalesce(
    (SELECT at FROM fresh WHERE debate_id = debates.id ORDER BY seq DESC LIMIT 1),
    (SELECT at FROM events WHERE debate_id = debates.id ORDER BY seq DESC LIMIT 1),
    created_at
)) AS INTEGER);

-- Only for debates that have ended, so that running debates do not update it.
CREATE INDEX debates_ended ON debates (turned_at) WHERE status IN ('completed', 'aborted', 'error');

-- Only the digest of a token is stored: it cannot be used in place of the token.
CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    role TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT
) WITHOUT ROWID;
