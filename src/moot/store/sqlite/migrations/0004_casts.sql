-- Which models speak or judge in a debate, by label (`anthropic/claude-haiku-5-5`) and by bare name. A debate
-- is identified by its place, so that the debates of a model are read in order.
CREATE TABLE casts (
    model TEXT NOT NULL,
    debate INTEGER NOT NULL REFERENCES debates (place) ON DELETE CASCADE,
    PRIMARY KEY (model, debate)
) WITHOUT ROWID;

CREATE INDEX casts_by_debate ON casts (debate);

INSERT OR IGNORE INTO casts (model, debate)
SELECT one.value, place FROM debates, json_each(summary, '$.models') AS one;

INSERT OR IGNORE INTO casts (model, debate)
SELECT json_extract(one.value, '$.model.provider') || '/' || json_extract(one.value, '$.model.name'), place
FROM debates
JOIN (SELECT debate_id, seq, body FROM events UNION ALL SELECT debate_id, seq, body FROM fresh) AS opening
    ON opening.debate_id = debates.id AND opening.seq = 1,
    json_each(opening.body, '$.judges') AS one
WHERE json_extract(one.value, '$.model.provider') <> 'human';

INSERT OR IGNORE INTO casts (model, debate)
SELECT substr(model, instr(model, '/') + 1), debate FROM casts WHERE instr(model, '/') > 0;

CREATE INDEX debates_by_format ON debates (format);
CREATE INDEX debates_by_owner_and_format ON debates (owner, format);
CREATE INDEX debates_by_opening ON debates (created_at);
