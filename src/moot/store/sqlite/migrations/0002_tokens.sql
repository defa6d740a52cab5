-- When the last event that is not a word came, in seconds since 1970: what has ended long ago is found by it.
ALTER TABLE debates ADD COLUMN turned_at INTEGER NOT NULL DEFAULT 0;

UPDATE debates SET turned_at = CAST(strftime('%s', coalesce(
    (SELECT at FROM fresh WHERE debate_id = debates.id ORDER BY seq DESC LIMIT 1),
    (SELECT at FROM events WHERE debate_id = debates.id ORDER BY seq DESC LIMIT 1),
    created_at
)) AS INTEGER);

-- Only those that have ended are in it, so a debate under way pays nothing for it.
CREATE INDEX debates_ended ON debates (turned_at) WHERE status IN ('completed', 'aborted', 'error');

-- Of a token only its digest is kept: what is read here lets nobody in.
CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    role TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT
) WITHOUT ROWID;
