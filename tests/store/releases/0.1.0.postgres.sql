-- One row per debate. It changes with each turn, not with each token.
CREATE TABLE debates (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- rises with every debate: lists read it backwards
    id text COLLATE "C" NOT NULL UNIQUE,
    owner text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    motion text NOT NULL,
    folded text COLLATE "C" NOT NULL, -- the motion as searches compare it
    format text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    turned_at timestamptz NOT NULL, -- in no index: otherwise each turn would update every index
    ended_at timestamptz, -- NULL while the debate is not over
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

-- The part of a debate that each token updates, together with `events`. Half of each page stays free, so that
-- the next version of a row fits in the same page and no index is updated.
CREATE TABLE heads (
    debate_id text COLLATE "C" PRIMARY KEY,
    place bigint NOT NULL,
    version bigint NOT NULL, -- the seq of its last event
    turning bigint NOT NULL, -- the seq of the last event other than a token
    epoch bigint NOT NULL,
    runner text COLLATE "C" NOT NULL,
    updated_at timestamptz NOT NULL,
    bytes bigint NOT NULL -- of its events and their stored requests
) WITH (fillfactor = 50);

CREATE INDEX heads_held ON heads (debate_id) WHERE runner <> '';

-- The log. The body is JSON as text: jsonb refuses \u0000. No foreign key: it would look up `debates` for every
-- token.
CREATE TABLE events (
    debate_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    epoch bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (debate_id, seq)
);

-- The result of each append, so that it can be read if the reply was lost; no append is repeated.
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

-- Keys by which a session is found: the id of a response, the digest of the last text, the id in the system
-- from which it was imported.
CREATE TABLE marks (
    mark text COLLATE "C" NOT NULL,
    debate bigint NOT NULL REFERENCES debates (place) ON DELETE CASCADE,
    PRIMARY KEY (mark, debate)
);

CREATE INDEX marks_by_debate ON marks (debate);

-- Only the digest of a token is stored: it cannot be used in place of the token.
CREATE TABLE tokens (
    name text COLLATE "C" PRIMARY KEY,
    digest text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz
);

-- Invitations to a debate, with their roles; deleted with the debate. Only the digest of the token is stored.
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

-- Imported conversations of other systems, read only; the same as 0005 of SQLite. JSON is stored as text, byte
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

-- The digest of the shared link with which a person joined: the invitation is valid as long as the link.
ALTER TABLE invitations ADD COLUMN via text COLLATE "C";

-- The append, as a function: the server keeps the plans of its statements for each connection, so an append is
-- not planned again every time. It needs no prepared statement, so a pgbouncer may stand in between. A later
-- version gets another name: processes of the previous one still call this.
--
-- `unnest` of several arrays is one table; `nth` counts the debates of the append. A part of it that has no rows
-- gets NULL. There are no defaults, which would be parsed with every call. Without the first setting a plan made
-- while the tables were small would read all of them for ever; without the second each call would be planned.
CREATE FUNCTION append_events_1(
    writer_id uuid, batch_number bigint, at_time timestamptz,
    ids text[], seen_places bigint[], turnings bigint[], epochs bigint[], counts integer[], turns integer[],
    new_epochs bigint[], runners text[], sizes bigint[], versions bigint[],
    said_in integer[], said_seqs integer[], said_epochs bigint[], said text[],
    turned_in integer[], turned_statuses text[], turned_summaries text[], ended text[],
    born_in integer[], born_owners text[], born_statuses text[], born_motions text[], born_folded text[],
    born_formats text[], born_summaries text[],
    kept_in integer[], kept_digests text[], kept_packed boolean[], kept bytea[],
    asked_in integer[], asked_clients text[], asked_keys text[], asked_hashes text[], asked_firsts integer[],
    asked_lasts integer[], expires_at timestamptz,
    cast_in integer[], cast_models text[],
    marks_in integer[], mark_texts text[],
    OUT bases bigint[], OUT places bigint[]
)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    moved integer[];
    moved_bases bigint[];
    moved_places bigint[];
    k integer;
    one record;
BEGIN
    -- In the order of their ids, so that processes never deadlock.
    PERFORM FROM heads WHERE debate_id = ANY(ids) ORDER BY debate_id FOR NO KEY UPDATE;

    WITH changed AS (
        UPDATE heads SET
            version = heads.version + want.n,
            turning = CASE WHEN want.turn > 0 THEN heads.version + want.turn ELSE heads.turning END,
            epoch = want.new_epoch,
            runner = coalesce(want.runner, heads.runner),
            updated_at = CASE WHEN want.n > 0 THEN at_time ELSE heads.updated_at END,
            bytes = heads.bytes + want.bytes
        FROM unnest(ids, seen_places, turnings, epochs, counts, turns, new_epochs, runners, sizes, versions)
            WITH ORDINALITY AS want (id, place, turning, epoch, n, turn, new_epoch, runner, bytes, version, nth)
        WHERE heads.debate_id = want.id AND heads.place = want.place AND heads.turning = want.turning
            AND heads.epoch = want.epoch AND (want.version IS NULL OR heads.version = want.version)
        RETURNING want.nth, heads.version - want.n AS base, heads.place
    )
    SELECT array_agg(changed.nth ORDER BY changed.nth), array_agg(changed.base ORDER BY changed.nth),
        array_agg(changed.place ORDER BY changed.nth)
    INTO moved, moved_bases, moved_places FROM changed;

    IF cardinality(moved) = cardinality(ids) THEN
        bases := moved_bases;
        places := moved_places;
    ELSE
        bases := array_fill(NULL::bigint, ARRAY[cardinality(ids)]);
        places := bases;
        FOR k IN 1 .. coalesce(cardinality(moved), 0) LOOP
            bases[moved[k]] := moved_bases[k];
            places[moved[k]] := moved_places[k];
        END LOOP;
    END IF;

    IF born_in IS NOT NULL THEN
        FOR one IN
            INSERT INTO debates (id, owner, status, motion, folded, format, created_at, turned_at, ended_at, summary)
            SELECT ids[item.nth], item.owner, item.status, item.motion, item.folded, item.format, at_time, at_time,
                CASE WHEN item.status = ANY(ended) THEN at_time END, item.summary
            FROM unnest(born_in, born_owners, born_statuses, born_motions, born_folded, born_formats, born_summaries)
                AS item (nth, owner, status, motion, folded, format, summary)
            ON CONFLICT (id) DO NOTHING
            RETURNING id, place
        LOOP
            k := array_position(ids, one.id);
            INSERT INTO heads (debate_id, place, version, turning, epoch, runner, updated_at, bytes)
            VALUES (one.id, one.place, counts[k], turns[k], new_epochs[k], coalesce(runners[k], ''), at_time,
                sizes[k]);
            bases[k] := 0;
            places[k] := one.place;
        END LOOP;
    END IF;

    -- Before the rest: if this number is taken, that has to be the error.
    INSERT INTO landed (writer, batch, bases, places, at)
    VALUES (writer_id, batch_number, append_events_1.bases, append_events_1.places, now());

    IF said_in IS NOT NULL THEN
        INSERT INTO events (debate_id, seq, at, epoch, body)
        SELECT ids[item.nth], append_events_1.bases[item.nth] + item.seq, at_time, item.epoch, item.body
        FROM unnest(said_in, said_seqs, said_epochs, said) AS item (nth, seq, epoch, body)
        WHERE append_events_1.bases[item.nth] IS NOT NULL;
    END IF;

    IF turned_in IS NOT NULL THEN
        UPDATE debates SET
            status = item.status, summary = item.summary, turned_at = at_time,
            ended_at = CASE WHEN item.status = ANY(ended) THEN coalesce(debates.ended_at, at_time) END
        FROM unnest(turned_in, turned_statuses, turned_summaries) AS item (nth, status, summary)
        WHERE debates.place = append_events_1.places[item.nth];
    END IF;

    IF kept_in IS NOT NULL THEN
        INSERT INTO bodies (debate_id, digest, packed, body)
        SELECT ids[item.nth], item.digest, item.packed, item.body
        FROM unnest(kept_in, kept_digests, kept_packed, kept) AS item (nth, digest, packed, body)
        WHERE append_events_1.places[item.nth] IS NOT NULL
        ORDER BY ids[item.nth] COLLATE "C", item.digest COLLATE "C"
        ON CONFLICT (debate_id, digest) DO NOTHING;
    END IF;

    -- If two nodes are sent the same request, the later one violates the key, is decided again, and finds it.
    IF asked_in IS NOT NULL THEN
        INSERT INTO requests (client, key, body_hash, debate_id, first, seq, expires)
        SELECT item.client, item.key, item.body_hash, ids[item.nth], append_events_1.bases[item.nth] + item.first,
            append_events_1.bases[item.nth] + item.last, expires_at
        FROM unnest(asked_in, asked_clients, asked_keys, asked_hashes, asked_firsts, asked_lasts)
            AS item (nth, client, key, body_hash, first, last)
        WHERE append_events_1.bases[item.nth] IS NOT NULL
        ORDER BY item.client COLLATE "C", item.key COLLATE "C";
    END IF;

    IF cast_in IS NOT NULL THEN
        DELETE FROM casts USING (
            SELECT DISTINCT append_events_1.places[item.nth] AS place FROM unnest(cast_in) AS item (nth)
        ) AS changed
        WHERE casts.debate = changed.place AND NOT EXISTS (
            SELECT FROM unnest(cast_in, cast_models) AS item (nth, model)
            WHERE append_events_1.places[item.nth] = casts.debate AND item.model = casts.model
        );
        INSERT INTO casts (model, debate)
        SELECT item.model, append_events_1.places[item.nth] FROM unnest(cast_in, cast_models) AS item (nth, model)
        WHERE append_events_1.places[item.nth] IS NOT NULL
        ORDER BY item.model COLLATE "C", append_events_1.places[item.nth]
        ON CONFLICT (model, debate) DO NOTHING;
    END IF;

    IF marks_in IS NOT NULL THEN
        INSERT INTO marks (mark, debate)
        SELECT item.mark, append_events_1.places[item.nth] FROM unnest(marks_in, mark_texts) AS item (nth, mark)
        WHERE append_events_1.places[item.nth] IS NOT NULL
        ORDER BY item.mark COLLATE "C", append_events_1.places[item.nth]
        ON CONFLICT (mark, debate) DO NOTHING;
    END IF;
END
$$;

-- Experiments, and the debate of each of their legs. A leg is reserved before its debate is opened, and stays
-- when the debate is deleted: the money was spent. Amounts are millionths of a dollar.
CREATE TABLE experiments (
    name text COLLATE "C" PRIMARY KEY,
    definition text NOT NULL,
    state text NOT NULL,
    epoch bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE TABLE experiment_legs (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- rises with every leg
    experiment text COLLATE "C" NOT NULL,
    leg text COLLATE "C" NOT NULL,
    debate_id text COLLATE "C" NOT NULL UNIQUE,
    reserved bigint NOT NULL,
    result text,
    UNIQUE (experiment, leg)
);

-- What progress and the balance of motions are counted by, beside the result of each leg, and in an index, so
-- that no result is read for it. beat_at: when the process that runs the experiment was last alive.
ALTER TABLE experiments ADD COLUMN beat_at timestamptz;
ALTER TABLE experiment_legs ADD COLUMN status text;
ALTER TABLE experiment_legs ADD COLUMN pro_share double precision;
UPDATE experiment_legs SET status = result::json ->> 'status' WHERE result IS NOT NULL;
CREATE INDEX experiment_legs_progress ON experiment_legs (experiment, status) INCLUDE (reserved, pro_share);

-- Legs whose debates are held again after a result: the epoch of the debate up to which a command may let it
-- go on. NULL: it is not.
ALTER TABLE experiment_legs ADD COLUMN held bigint;

CREATE TABLE moot_schema (version integer PRIMARY KEY, at timestamptz NOT NULL);
SET session_replication_role = replica;
INSERT INTO "bodies" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '1c3f450a99705b294dd99d6e39881a9a0ef861166e591687fe9e9e6fc37c5f7b', 'true', E'\\x789c8d55c16edc3610fd95812ebd28ead64963470d0ae4122487228163c048ea22e08ab312bb144725a9951786ff3d6fa88de30235d08bd71a0d876fdebc79baab46b1ecabf6ae9aa21c9ce558b555eaa29b32dbaaae82191911098c87d1dc7ecdb2e790aaf6c5e6d5cbba4a8cacf6a2c669d7b19671619a73d5fe7957a56c22fedbe025c7afa3f3de4940ad4d75ff575dc99cff5f6292396ae9ca4b677c757f5fe38e94e3dc65a40149f559663291c990e5adc91cc9053cec248ec69f62350decadbec803539a5c7499644797b2e5987f4a74397b4e1af91041428b14367bca52f247d1bb6a32d6464ea9c4bac1b88850480b6e34b19f470e39216029f04163399b6e4f682a016873136ec2d543b196be8824b2826760ef452cca9a408389e34d78abe0734b6f23f3a98586ae16a184190180d933e539864473c8ce1744ebb33201f021d784a951ef0ec85fcc118f51d38eb84b79e85cecd032605d0f822b3a2ddcd2dfb3ed39d5b43dd2200b2decd7e29d494c2e9546d9e214588f054d4bc73200c4c9f44687f388b486de89129f691765d4d4483b1791b348b44a70097993f2ca1040b79a3136f4f181ec45873189538231230d09fec415d6e471ab3f16ea2def183fa5a82ca1d47c8746705119697b139ed135a6cf0f39fa82bb619d1ccabad013fb041841201b631100237880527b8cc3455ec5b706b52ca0e8aa2465168d86222e97eb4772287da0e7d281092bfe93621b4575c960a5802a5d49a0c846a5538a7412bac880cdb7669cbcce48c3a32a810de0177a70aae352ed7d384004df1b6a4ff0b34bd975389bf26c9d16f967160deb3510c8ba6d4aba295854a02841fbb072c8b728d0d035b0170221d7036bed9debe788355b75b0b83c60c3558105cca7b24da7edf326f4b312799ae449289a77c5b799b69c17e640af151a3fe3e7e717e717ddd94bdebcda6c9ebff8bdf4fdfae7a7deaa487f74d5d0fbaca1516976f003d842018e66d6dd2d19eb88d665d1b78f2da6a6056c9404c8b883d8c6a4c7b7dca82942a36826152b8be2d5aae6041fad2b8c2c6306ab45416ad3043e3093649c850e9fea0fdb8fadb7d816b59f7854f88a003d58cc1a388e9878f44e3dc61e0c268ee1a7e4b61e26f186e0e4a34b3f866074fdb5563730fcc8153ea0c43c50a9e55dce7af22ace10601f654994bc2ca78d42b217bc28a66acdb13979659188ba0d6cc440b39ae3d785858dc57fe7401429b18527c2102021c1bd69d09b4a8ab6a3404697570703543395a5412d0ff6b10b130c37a141782478c46d9d8c93890e2b0284b2c7c9bc12b5e8a6cdb01da8b7ecd9023e20b02745a32ef101a6894d010f8f1715142a9583ee393e7d18fa4e4ed2579ca51edadaca817f2bd1d11cbf7f1470f348dbe878e7c19a7ea6d6afca7fb9e41fbac70f8ea40600bc6f3073a5f5975f372ba2a67c129ffc0e6f369bb3b3f3fb6f871ac0e9');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('coin', '4');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('heron', '3');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('one', '4');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('owl', '3');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('parrot', '1');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('parrot', '2');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('scripted/coin', '4');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('scripted/heron', '3');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('scripted/one', '4');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('scripted/owl', '3');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('scripted/parrot', '1');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('scripted/parrot', '2');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('scripted/two', '4');
INSERT INTO "casts" OVERRIDING SYSTEM VALUE VALUES ('two', '4');
INSERT INTO "conversation_events" OVERRIDING SYSTEM VALUE VALUES ('1', 'a000Z', '892f902b-d23f-4824-928b-2f330c5c7fd0', 'system', '1746090000682', '2025-05-01T09:00:00.682554+00:00', '[{"type":"text","text":"So „0.094“ it is: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word "},{"type":"image","url":"https://example.org/a.png","alt":null}]', NULL, NULL, E'\\x8ee3bd8f0db210e9fd9eff497c02a070');
INSERT INTO "conversation_events" OVERRIDING SYSTEM VALUE VALUES ('1', 'a001V', '11e20b8f-6b0d-449b-af03-675a1600a35a', 'user', '1746090001039', '2025-05-01T09:00:01.039317+00:00', '[{"type":"text","text":"So „0.241“ it is: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word "}]', NULL, NULL, E'\\xd24f19d1ea8151bfa336f51c8c453e3a');
INSERT INTO "conversation_events" OVERRIDING SYSTEM VALUE VALUES ('1', 'a002V', '953f48f1-a09f-46b5-a170-b33839263059', 'assistant', '1746090002993', '2025-05-01T09:00:02.993473+00:00', E'[{"type":"text","text":"So „0.948“ it is: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word "},{"type":"image","url":"https://example.org/a.png","alt":null},{"type":"reasoning","id":"rs_2","output_index":0,"sequence_number":4,"parts":[{"summary_index":0,"type":"summary_text","text":"**Weighing 2**\\n\\nOn the one hand 0.28960928633167626","sequence_number":4,"is_complete":true,"created_at":1746090000002}],"combined_text":"**Weighing 2**\\n\\nOn the one hand 0.28960928633167626"}]', NULL, '{"at":2}', E'\\xc19012c46cebf62a6f316f679d7fa095');
INSERT INTO "conversation_events" OVERRIDING SYSTEM VALUE VALUES ('1', 'a003Z', '5f557203-3018-40c5-a38f-d547923a7369', 'tool', '1746090003609', '2025-05-01T09:00:03.609851+00:00', '[{"type":"tool_result","id":"call_1","output":{"found":[1,2.5,null]}}]', NULL, NULL, E'\\x296b9222ce1f7a8bc68c3b3ea1a5b3fe');
INSERT INTO "conversation_events" OVERRIDING SYSTEM VALUE VALUES ('1', 'a004f', 'c6f87718-6d76-407e-881e-d162ae2eb154', 'assistant', '1746090004520', '2025-05-01T09:00:04.520528+00:00', E'[{"type":"text","text":"So „0.314“ it is: word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word "},{"type":"reasoning","id":"rs_4","output_index":2,"sequence_number":4,"parts":[{"summary_index":0,"type":"summary_text","text":"**Weighing 4**\\n\\nOn the one hand 0.6989944337295713","sequence_number":4,"is_complete":true,"created_at":1746090000004}],"combined_text":"**Weighing 4**\\n\\nOn the one hand 0.6989944337295713"}]', NULL, '{"at":1}', E'\\xc663016f7d739e23304a149a771937c6');
INSERT INTO "conversation_events" OVERRIDING SYSTEM VALUE VALUES ('1', 'a005m', '830e07bc-1e39-4f10-92bd-4acefaecbd38', 'system', '1746090005638', '2025-05-01T09:00:05.638539+00:00', '[{"type":"text","text":"So „0.418“ it is: word word word word word word word word word word word word word word word word word word word word word "}]', NULL, NULL, E'\\x0a362756f187518ea121775da1208081');
INSERT INTO "conversations" OVERRIDING SYSTEM VALUE VALUES ('1', '6513270e-269e-4d37-b2a7-4de452e6b438', 'imp_5654c6deb521bc3ec647', '', '/tmp/tmpptel6j_a/old.jsonl', '/tmp/tmpptel6j_a/old.jsonl', '6', '1746090000682', '1746090005638');
INSERT INTO "debates" OVERRIDING SYSTEM VALUE VALUES ('1', 'deb_aborted', 'ann', 'aborted', 'Cats are better than dogs', 'cats are better than dogs', 'oxford', '2026-01-05 12:00:00.125+00', '2026-01-05 12:00:02.375+00', '2026-01-05 12:00:02.25+00', '{"id":"deb_aborted","motion":"Cats are better than dogs","format":"oxford","status":"aborted","seats":["Seat 1","Seat 2"],"models":["scripted/parrot","scripted/parrot"],"round":1,"rounds":5,"turns":2,"cost":"0","sides":["for","against"],"colours":["",""],"strip":[0,1,0,1,0,1,0,1,0,1],"given":2,"judges":["scripted/parrot"],"bills":[{"model":"scripted/parrot","tokens":753,"cost":"0"}],"day":"2026-01-05"}');
INSERT INTO "debates" OVERRIDING SYSTEM VALUE VALUES ('2', 'deb_by-hand', 'ann', 'completed', 'Cats are better than dogs', 'cats are better than dogs', 'free', '2026-01-05 12:00:00.125+00', '2026-01-05 12:00:03.125+00', '2026-01-05 12:00:03.125+00', '{"id":"deb_by-hand","motion":"Cats are better than dogs","format":"free","status":"completed","seats":["Seat 1","Seat 2"],"models":["scripted/parrot","scripted/parrot"],"round":1,"rounds":1,"turns":2,"cost":"0","winner":"Seat 2","outcome":"win","sides":["for","against"],"winnerModel":"scripted/parrot","winnerSide":"against","headline":"Seat 2 wins","colours":["",""],"strip":[0,1],"given":2,"judges":["scripted/parrot"],"bills":[{"model":"scripted/parrot","tokens":717,"cost":"0"}],"day":"2026-01-05"}');
INSERT INTO "debates" OVERRIDING SYSTEM VALUE VALUES ('3', 'deb_brought', 'ann', 'completed', 'AI will replace most human jobs by 2040', 'ai will replace most human jobs by 2040', 'turns', '2026-01-05 12:00:00.125+00', '2026-01-05 12:00:05+00', '2026-01-05 12:00:05+00', '{"id":"deb_brought","motion":"AI will replace most human jobs by 2040","format":"turns","status":"completed","seats":["AFFIRMATIVE","NEGATIVE"],"models":["scripted/owl","scripted/heron"],"round":2,"rounds":5,"turns":4,"cost":"0.0375","sides":["for","against"],"colours":["#0B6E6E","#B3432B"],"strip":[0,1,0,1,0,1,0,1,0,1],"given":4,"bills":[{"model":"scripted/heron","tokens":519,"cost":"0.0125"},{"model":"scripted/owl","tokens":0,"cost":"0.0250"}],"day":"2026-01-05"}');
INSERT INTO "debates" OVERRIDING SYSTEM VALUE VALUES ('4', 'deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '', 'completed', 'Zoos do more good than harm', 'zoos do more good than harm', 'free', '2026-11-18 20:36:11.451145+00', '2026-11-18 20:36:11.771227+00', '2026-11-18 20:36:11.771227+00', '{"id":"deb_01M7R5ZJ0SQPGZTE37N1X25WKT","motion":"Zoos do more good than harm","format":"free","status":"completed","seats":["For","Against"],"models":["scripted/two","scripted/one"],"round":1,"rounds":1,"turns":2,"cost":"0","outcome":"too-close","sides":["for","against"],"headline":"Too close to call","colours":["#0B6E6E","#B3432B"],"strip":[0,1],"given":2,"judges":["scripted/coin"],"minds":1,"flips":1,"agreement":0.5,"bills":[{"model":"scripted/coin","tokens":2523,"cost":"0"},{"model":"scripted/one","tokens":510,"cost":"0"},{"model":"scripted/two","tokens":421,"cost":"0"}],"day":"2026-11-18","experiment":"league"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '1', '2026-11-18 20:36:11.451145+00', '0', '{"type":"debate.opened","motion":"Zoos do more good than harm","format":{"name":"free","title":"Free debate","summary":"Two sides take turns until the turns are spent, one gives way, or they go in circles.","chairs":[{"name":"For","side":"for"},{"name":"Against","side":"against"}],"phases":[{"key":"opening","title":"Opening","who":"each","tone":"opening","words":150},{"key":"reply","title":"Reply","who":"each","round":2,"words":150}],"turns":10,"max_turns":20,"repeat":2},"seats":[{"id":"part_1","name":"For","side":"for","model":{"provider":"scripted","name":"two","max_tokens":4096,"seed":7,"price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}},"colour":"#0B6E6E"},{"id":"part_2","name":"Against","side":"against","model":{"provider":"scripted","name":"one","max_tokens":4096,"seed":8,"price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}},"colour":"#B3432B"}],"judges":[{"id":"judge_1","name":"Judge","model":{"provider":"scripted","name":"coin","max_tokens":4096,"seed":107,"price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}}}],"limits":{"rounds":5,"turns":2,"turn_seconds":120.0,"person_seconds":300.0},"manner":{"experiment":{"name":"league","group":"Zoos do more good than harm | scripted/one | scripted/two","dice":"a53efe40dafeaaad"}},"title":"","prompts":2,"fence":"112820ad7b51e86d"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '10', '2026-11-18 20:36:11.572719+00', '1795034171143', '{"type":"segment.completed","call":1,"segment":{"type":"reasoning","parts":[{"text":"First the strongest point, then an example."}]}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '11', '2026-11-18 20:36:11.572719+00', '1795034171143', '{"type":"segment.completed","call":1,"segment":{"type":"text","text":"Freedom to try is what made every earlier advance possible. A promise without a way to check it is worth very little. Trust grows slowly and is lost in a day. Rules that are clear cost less than rules that are guessed at. History shows that early limits are cheaper than late repairs. An honest comparison looks at what we would do otherwise.","index":1}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '12', '2026-11-18 20:36:11.572719+00', '1795034171143', '{"type":"call.completed","call":1,"finish":"stop","usage":{"input":324,"output":97,"reasoning":11},"cost":"0","latency_ms":35,"first_token_ms":0,"response_id":"resp_1_e536fbdb"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '13', '2026-11-18 20:36:11.572719+00', '1795034171143', '{"type":"turn.completed","turn":1,"words":63}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '14', '2026-11-18 20:36:11.572719+00', '1795034171143', '{"type":"turn.started","turn":2,"slot":1,"round":1,"phase":"opening","tone":"opening","seat":"part_2"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '15', '2026-11-18 20:36:11.572719+00', '1795034171143', '{"type":"call.started","call":2,"model":"scripted/one","request":"1c3f450a99705b294dd99d6e39881a9a0ef861166e591687fe9e9e6fc37c5f7b","attempt":1,"max_tokens":4096,"input_bound":1191,"reserved":"0","turn":2,"input_guess":429}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '16', '2026-11-18 20:36:11.603401+00', '1795034171143', '{"type":"call.delta","call":2,"segment":0,"kind":"reasoning","text":"First"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '17', '2026-11-18 20:36:11.621925+00', '1795034171143', '{"type":"call.delta","call":2,"segment":0,"kind":"reasoning","text":" the strongest point, then an example."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '18', '2026-11-18 20:36:11.621925+00', '1795034171143', '{"type":"call.delta","call":2,"segment":1,"kind":"text","text":"The cost falls on people who never had a say. The question is who bears the risk when things go wrong. A promise without a way to check it is worth very little. What works in a small town need not work in a large country. My opponent''s example proves the opposite of what was claimed."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '19', '2026-11-18 20:36:11.640852+00', '1795034171143', '{"type":"segment.completed","call":2,"segment":{"type":"reasoning","parts":[{"text":"First the strongest point, then an example."}]}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '2', '2026-11-18 20:36:11.451145+00', '0', '{"type":"debate.started"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '20', '2026-11-18 20:36:11.640852+00', '1795034171143', '{"type":"segment.completed","call":2,"segment":{"type":"text","text":"The cost falls on people who never had a say. The question is who bears the risk when things go wrong. A promise without a way to check it is worth very little. What works in a small town need not work in a large country. My opponent''s example proves the opposite of what was claimed.","index":1}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '21', '2026-11-18 20:36:11.640852+00', '1795034171143', '{"type":"call.completed","call":2,"finish":"stop","usage":{"input":428,"output":82,"reasoning":11},"cost":"0","latency_ms":48,"first_token_ms":0,"response_id":"resp_3_5b1dd876"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '22', '2026-11-18 20:36:11.640852+00', '1795034171143', '{"type":"turn.completed","turn":2,"words":56}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '23', '2026-11-18 20:36:11.640852+00', '1795034171143', '{"type":"round.completed","round":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '24', '2026-11-18 20:36:11.640852+00', '1795034171143', '{"type":"judging.started","judging":1,"why":"rounds"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '25', '2026-11-18 20:36:11.656732+00', '1795034171143', '{"type":"call.started","call":3,"model":"scripted/coin","request":"7f09f15de7b1608ac098cd44131dd2b18f26347463b8b9c1f79e5a864400fd05","attempt":1,"max_tokens":4096,"input_bound":4751,"reserved":"0","judge":"judge_1","input_guess":1050}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '26', '2026-11-18 20:36:11.665034+00', '1795034171143', E'{"type":"call.delta","call":3,"segment":0,"kind":"text","text":"{\\"reasoning\\":\\"Those"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '27', '2026-11-18 20:36:11.691354+00', '1795034171143', E'{"type":"call.delta","call":3,"segment":0,"kind":"text","text":" who know the field best are not always those who decide.\\",\\"rests_on\\":[\\"S1\\"],\\"criteria\\":{\\"C1\\":\\"The cost falls on people who never had a say.\\",\\"C2\\":\\"The cost falls on people who never had a say.\\",\\"C3\\":\\"History shows that early limits are cheaper than late repairs.\\",\\"C4\\":\\"History shows that early limits are cheaper than late repairs.\\"},\\"rubric\\":{\\"C1\\":{\\"Birch\\":5,\\"Cedar\\":8},\\"C2\\":{\\"Birch\\":7,\\"Cedar\\":7},\\"C3\\":{\\"Birch\\":6,\\"Cedar\\":6},\\"C4\\":{\\"Birch\\":7,\\"Cedar\\":5}},\\"speakers\\":{\\"Birch\\":{\\"strengths\\":[\\"Rules that are clear cost less than rules that are guessed at.\\"],\\"weaknesses\\":[\\"Freedom to try is what made every earlier advance possible.\\"],\\"score\\":78},\\"Cedar\\":{\\"strengths\\":[\\"The question is who bears the risk when things go wrong.\\"],\\"weaknesses\\":[\\"My opponent''s example proves the opposite of what was claimed.\\"],\\"score\\":69}},\\"winner\\":\\"Birch\\"}"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '28', '2026-11-18 20:36:11.700507+00', '1795034171143', E'{"type":"segment.completed","call":3,"segment":{"type":"text","text":"{\\"reasoning\\":\\"Those who know the field best are not always those who decide.\\",\\"rests_on\\":[\\"S1\\"],\\"criteria\\":{\\"C1\\":\\"The cost falls on people who never had a say.\\",\\"C2\\":\\"The cost falls on people who never had a say.\\",\\"C3\\":\\"History shows that early limits are cheaper than late repairs.\\",\\"C4\\":\\"History shows that early limits are cheaper than late repairs.\\"},\\"rubric\\":{\\"C1\\":{\\"Birch\\":5,\\"Cedar\\":8},\\"C2\\":{\\"Birch\\":7,\\"Cedar\\":7},\\"C3\\":{\\"Birch\\":6,\\"Cedar\\":6},\\"C4\\":{\\"Birch\\":7,\\"Cedar\\":5}},\\"speakers\\":{\\"Birch\\":{\\"strengths\\":[\\"Rules that are clear cost less than rules that are guessed at.\\"],\\"weaknesses\\":[\\"Freedom to try is what made every earlier advance possible.\\"],\\"score\\":78},\\"Cedar\\":{\\"strengths\\":[\\"The question is who bears the risk when things go wrong.\\"],\\"weaknesses\\":[\\"My opponent''s example proves the opposite of what was claimed.\\"],\\"score\\":69}},\\"winner\\":\\"Birch\\"}"}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '29', '2026-11-18 20:36:11.700507+00', '1795034171143', '{"type":"call.completed","call":3,"finish":"stop","usage":{"input":1049,"output":214},"cost":"0","latency_ms":35,"first_token_ms":0,"response_id":"resp_5_a5b02581"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '3', '2026-11-18 20:36:11.50947+00', '1795034171143', '{"type":"debate.ready"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '30', '2026-11-18 20:36:11.700507+00', '1795034171143', '{"type":"ballot.cast","judging":1,"ballot":{"judge":"judge_1","order":0,"winner":"part_1","scores":{"part_1":{"score":78.0,"strengths":["Rules that are clear cost less than rules that are guessed at."],"weaknesses":["Freedom to try is what made every earlier advance possible."]},"part_2":{"score":69.0,"strengths":["The question is who bears the risk when things go wrong."],"weaknesses":["My opponent''s example proves the opposite of what was claimed."]}},"reasoning":"Those who know the field best are not always those who decide.","criteria":{"argument":"The cost falls on people who never had a say.","evidence":"The cost falls on people who never had a say.","rebuttal":"History shows that early limits are cheaper than late repairs.","clarity":"History shows that early limits are cheaper than late repairs."},"cites":[1],"rubric":{"argument":{"part_1":5.0,"part_2":8.0},"evidence":{"part_1":7.0,"part_2":7.0},"rebuttal":{"part_1":6.0,"part_2":6.0},"clarity":{"part_1":7.0,"part_2":5.0}},"labels":{"part_1":"Birch","part_2":"Cedar"},"read_first":"part_1"}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '31', '2026-11-18 20:36:11.724156+00', '1795034171143', '{"type":"call.started","call":4,"model":"scripted/coin","request":"b678e78b0afb7abe63d36b68dbd53cc108f895686cb58d1bea4e5204604ee688","attempt":1,"max_tokens":4096,"input_bound":4758,"reserved":"0","judge":"judge_1","order":1,"input_guess":1050}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '32', '2026-11-18 20:36:11.745025+00', '1795034171143', E'{"type":"call.delta","call":4,"segment":0,"kind":"text","text":"{\\"reasoning\\":\\"Rules"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '33', '2026-11-18 20:36:11.759461+00', '1795034171143', E'{"type":"call.delta","call":4,"segment":0,"kind":"text","text":" that are clear cost less than rules that are guessed at.\\",\\"rests_on\\":[\\"S1\\"],\\"criteria\\":{\\"C1\\":\\"My opponent''s example proves the opposite of what was claimed.\\",\\"C2\\":\\"Trust grows slowly and is lost in a day.\\",\\"C3\\":\\"An honest comparison looks at what we would do otherwise.\\",\\"C4\\":\\"Freedom to try is what made every earlier advance possible.\\"},\\"rubric\\":{\\"C1\\":{\\"Birch\\":8,\\"Cedar\\":6},\\"C2\\":{\\"Birch\\":5,\\"Cedar\\":6},\\"C3\\":{\\"Birch\\":5,\\"Cedar\\":5},\\"C4\\":{\\"Birch\\":7,\\"Cedar\\":8}},\\"speakers\\":{\\"Birch\\":{\\"strengths\\":[\\"History shows that early limits are cheaper than late repairs.\\"],\\"weaknesses\\":[\\"What works in a small town need not work in a large country.\\"],\\"score\\":83},\\"Cedar\\":{\\"strengths\\":[\\"The cost falls on people who never had a say.\\"],\\"weaknesses\\":[\\"The question is who bears the risk when things go wrong.\\"],\\"score\\":70}},\\"winner\\":\\"Birch\\"}"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '34', '2026-11-18 20:36:11.771227+00', '1795034171143', E'{"type":"segment.completed","call":4,"segment":{"type":"text","text":"{\\"reasoning\\":\\"Rules that are clear cost less than rules that are guessed at.\\",\\"rests_on\\":[\\"S1\\"],\\"criteria\\":{\\"C1\\":\\"My opponent''s example proves the opposite of what was claimed.\\",\\"C2\\":\\"Trust grows slowly and is lost in a day.\\",\\"C3\\":\\"An honest comparison looks at what we would do otherwise.\\",\\"C4\\":\\"Freedom to try is what made every earlier advance possible.\\"},\\"rubric\\":{\\"C1\\":{\\"Birch\\":8,\\"Cedar\\":6},\\"C2\\":{\\"Birch\\":5,\\"Cedar\\":6},\\"C3\\":{\\"Birch\\":5,\\"Cedar\\":5},\\"C4\\":{\\"Birch\\":7,\\"Cedar\\":8}},\\"speakers\\":{\\"Birch\\":{\\"strengths\\":[\\"History shows that early limits are cheaper than late repairs.\\"],\\"weaknesses\\":[\\"What works in a small town need not work in a large country.\\"],\\"score\\":83},\\"Cedar\\":{\\"strengths\\":[\\"The cost falls on people who never had a say.\\"],\\"weaknesses\\":[\\"The question is who bears the risk when things go wrong.\\"],\\"score\\":70}},\\"winner\\":\\"Birch\\"}"}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '35', '2026-11-18 20:36:11.771227+00', '1795034171143', '{"type":"call.completed","call":4,"finish":"stop","usage":{"input":1049,"output":211},"cost":"0","latency_ms":24,"first_token_ms":3,"response_id":"resp_7_4c930a59"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '36', '2026-11-18 20:36:11.771227+00', '1795034171143', '{"type":"ballot.cast","judging":1,"ballot":{"judge":"judge_1","order":1,"winner":"part_2","scores":{"part_2":{"score":83.0,"strengths":["History shows that early limits are cheaper than late repairs."],"weaknesses":["What works in a small town need not work in a large country."]},"part_1":{"score":70.0,"strengths":["The cost falls on people who never had a say."],"weaknesses":["The question is who bears the risk when things go wrong."]}},"reasoning":"Rules that are clear cost less than rules that are guessed at.","criteria":{"argument":"My opponent''s example proves the opposite of what was claimed.","evidence":"Trust grows slowly and is lost in a day.","rebuttal":"An honest comparison looks at what we would do otherwise.","clarity":"Freedom to try is what made every earlier advance possible."},"cites":[1],"rubric":{"argument":{"part_2":8.0,"part_1":6.0},"evidence":{"part_2":5.0,"part_1":6.0},"rebuttal":{"part_2":5.0,"part_1":5.0},"clarity":{"part_2":7.0,"part_1":8.0}},"labels":{"part_2":"Birch","part_1":"Cedar"},"read_first":"part_1"}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '37', '2026-11-18 20:36:11.771227+00', '1795034171143', '{"type":"verdict.reached","verdict":{"outcome":"too-close","winner":null,"by":"judges","margin":-2.0,"agreement":0.5,"flips":1,"scores":{"part_1":{"score":74.0,"strengths":["Rules that are clear cost less than rules that are guessed at.","The cost falls on people who never had a say."],"weaknesses":["Freedom to try is what made every earlier advance possible.","The question is who bears the risk when things go wrong."]},"part_2":{"score":76.0,"strengths":["The question is who bears the risk when things go wrong.","History shows that early limits are cheaper than late repairs."],"weaknesses":["My opponent''s example proves the opposite of what was claimed.","What works in a small town need not work in a large country."]}},"reasoning":"Those who know the field best are not always those who decide.","criteria":{"argument":"The cost falls on people who never had a say.","evidence":"The cost falls on people who never had a say.","rebuttal":"History shows that early limits are cheaper than late repairs.","clarity":"History shows that early limits are cheaper than late repairs."},"cites":[1],"rubric":{"argument":{"part_1":5.5,"part_2":8.0},"evidence":{"part_1":6.5,"part_2":6.0},"rebuttal":{"part_1":5.5,"part_2":5.5},"clarity":{"part_1":7.5,"part_2":6.0}},"last_word":"part_2"},"judging":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '38', '2026-11-18 20:36:11.771227+00', '1795034171143', '{"type":"debate.ended","reason":"rounds","detail":""}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '4', '2026-11-18 20:36:11.50947+00', '1795034171143', '{"type":"round.started","round":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '5', '2026-11-18 20:36:11.50947+00', '1795034171143', '{"type":"turn.started","turn":1,"slot":0,"round":1,"phase":"opening","tone":"opening","seat":"part_1"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '6', '2026-11-18 20:36:11.50947+00', '1795034171143', '{"type":"call.started","call":1,"model":"scripted/two","request":"70df8890172ef70ba2575269f821bc62c299ffcfe6a10131dfe6704e2134be42","attempt":1,"max_tokens":4096,"input_bound":938,"reserved":"0","turn":1,"input_guess":325}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '7', '2026-11-18 20:36:11.539107+00', '1795034171143', '{"type":"call.delta","call":1,"segment":0,"kind":"reasoning","text":"First"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '8', '2026-11-18 20:36:11.555277+00', '1795034171143', '{"type":"call.delta","call":1,"segment":0,"kind":"reasoning","text":" the strongest point, then an example."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '9', '2026-11-18 20:36:11.555277+00', '1795034171143', '{"type":"call.delta","call":1,"segment":1,"kind":"text","text":"Freedom to try is what made every earlier advance possible. A promise without a way to check it is worth very little. Trust grows slowly and is lost in a day. Rules that are clear cost less than rules that are guessed at. History shows that early limits are cheaper than late repairs. An honest comparison looks at what we would do otherwise."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '1', '2026-01-05 12:00:00.125+00', '0', '{"type":"debate.opened","motion":"Cats are better than dogs","format":{"name":"oxford","title":"Oxford","summary":"Openings, rounds of rebuttal, and closing statements; the sides alternate throughout.","chairs":[{"name":"Proposition","side":"for"},{"name":"Opposition","side":"against"}],"phases":[{"key":"opening","title":"Opening statement","who":"each","tone":"opening","words":200,"guide":"Define the motion fairly and lay out the two or three arguments on which your side will rest."},{"key":"rebuttal","title":"Rebuttal","who":"each","round":2,"guide":"Answer the strongest thing the other side has said, then strengthen your own case."},{"key":"closing","title":"Closing statement","who":"each","round":3,"tone":"closing","words":150,"new_arguments":false,"guide":"Weigh the debate as it was held and say why your side has carried it."}],"repeat":2,"last_word":"against"},"seats":[{"id":"a","name":"Seat 1","side":"for","model":{"provider":"scripted","name":"parrot","price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}}},{"id":"b","name":"Seat 2","side":"against","model":{"provider":"scripted","name":"parrot","price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}}}],"judges":[{"id":"judge","name":"Judge","model":{"provider":"scripted","name":"parrot","price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}}}],"limits":{"rounds":5},"manner":{},"title":"","prompts":1,"fence":""}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '10', '2026-01-05 12:00:01.25+00', '1', '{"type":"call.delta","call":1,"segment":0,"kind":"text","text":"oice."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '11', '2026-01-05 12:00:01.375+00', '1', '{"type":"segment.completed","call":1,"segment":{"type":"text","text":"Measure hope wheat island bread border engine bread law measure copper voice."}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '12', '2026-01-05 12:00:01.5+00', '1', '{"type":"call.completed","call":1,"finish":"stop","usage":{"input":346,"output":20},"cost":"0","latency_ms":250,"first_token_ms":50,"response_id":"resp_1"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '13', '2026-01-05 12:00:01.625+00', '1', '{"type":"turn.completed","turn":1,"words":12}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '14', '2026-01-05 12:00:01.75+00', '1', '{"type":"turn.started","turn":2,"slot":1,"round":1,"phase":"opening","tone":"opening","seat":"b"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '15', '2026-01-05 12:00:01.875+00', '1', '{"type":"call.started","call":2,"model":"scripted/parrot","request":"4a59e531aaeba757c9e0bb3ba8412ba78427931014a312ab06ef66103e8fad65","attempt":1,"max_tokens":4096,"input_bound":1522,"reserved":"0","turn":2}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '16', '2026-01-05 12:00:02+00', '1', '{"type":"call.delta","call":2,"segment":0,"kind":"text","text":"River island promise whe"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '17', '2026-01-05 12:00:02.125+00', '1', '{"type":"turn.interrupted","turn":2,"by":"abort"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '18', '2026-01-05 12:00:02.25+00', '1', '{"type":"debate.ended","reason":"aborted","detail":"Wrong motion."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '19', '2026-01-05 12:00:02.375+00', '1', '{"type":"call.failed","call":2,"kind":"cut","severity":"transient","message":"The turn was cut short.","usage":{"input":381,"output":6,"estimated":true},"cost":"0","latency_ms":250}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '2', '2026-01-05 12:00:00.25+00', '1', '{"type":"debate.started"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '3', '2026-01-05 12:00:00.375+00', '1', '{"type":"debate.ready"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '4', '2026-01-05 12:00:00.5+00', '1', '{"type":"round.started","round":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '5', '2026-01-05 12:00:00.625+00', '1', '{"type":"turn.started","turn":1,"slot":0,"round":1,"phase":"opening","tone":"opening","seat":"a"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '6', '2026-01-05 12:00:00.75+00', '1', '{"type":"call.started","call":1,"model":"scripted/parrot","request":"f9497f295e5fa4cf00f1af7dce15a8094954c33913ac96df43f718095d5101a5","attempt":1,"max_tokens":4096,"input_bound":1383,"reserved":"0","turn":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '7', '2026-01-05 12:00:00.875+00', '1', '{"type":"call.delta","call":1,"segment":0,"kind":"text","text":"Measure hope wheat islan"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '8', '2026-01-05 12:00:01+00', '1', '{"type":"call.delta","call":1,"segment":0,"kind":"text","text":"d bread border engine br"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '9', '2026-01-05 12:00:01.125+00', '1', '{"type":"call.delta","call":1,"segment":0,"kind":"text","text":"ead law measure copper v"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '1', '2026-01-05 12:00:00.125+00', '0', '{"type":"debate.opened","motion":"AI will replace most human jobs by 2040","format":{"name":"turns","title":"Turn by turn","summary":"Two sides answer each other, and every turn is asked for.","chairs":[{"name":"AFFIRMATIVE","side":"for"},{"name":"NEGATIVE","side":"against"}],"phases":[{"key":"opening","title":"Opening","who":"each","tone":"opening","words":600,"held":false,"guide":"Present your opening argument following Robert''s Rules of Order."},{"key":"reply","title":"Reply","who":"each","round":2,"words":600,"held":false,"guide":"Address your opponent''s specific points, refute their arguments with evidence and logic, and strengthen your own position."}],"max_seats":2,"turns":10,"max_turns":10,"scripted":true,"repeat":2,"result":"none"},"seats":[{"id":"part_1","name":"AFFIRMATIVE","side":"for","model":{"provider":"scripted","name":"owl","effort":"high","price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}},"colour":"#0B6E6E"},{"id":"part_2","name":"NEGATIVE","side":"against","model":{"provider":"scripted","name":"heron","effort":"high","price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}},"colour":"#B3432B"}],"judges":[],"limits":{"rounds":5,"turns":10,"turn_seconds":300.0},"manner":{"winning":"user-decides"},"title":"","prompts":1,"fence":""}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '10', '2026-01-05 12:00:01.25+00', '1', '{"type":"turn.completed","turn":1,"words":7}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '11', '2026-01-05 12:00:01.375+00', '1', '{"type":"turn.started","turn":2,"slot":1,"round":1,"phase":"opening","tone":"opening","seat":"part_2"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '12', '2026-01-05 12:00:01.5+00', '1', '{"type":"call.started","call":2,"model":"scripted/heron","request":"","attempt":1,"max_tokens":0,"input_bound":0,"reserved":"0","turn":2}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '13', '2026-01-05 12:00:01.625+00', '1', '{"type":"segment.completed","call":2,"segment":{"type":"reasoning","parts":[{"text":"Weighed elsewhere."}]}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '14', '2026-01-05 12:00:01.75+00', '1', '{"type":"segment.completed","call":2,"segment":{"type":"text","text":"What was said elsewhere in turn 2.","index":1}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '15', '2026-01-05 12:00:01.875+00', '1', '{"type":"call.completed","call":2,"finish":"stop","usage":{},"cost":"0.0125","latency_ms":0,"response_id":"resp_elsewhere_2","reason":"elsewhere"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '16', '2026-01-05 12:00:02+00', '1', '{"type":"turn.completed","turn":2,"words":7}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '17', '2026-01-05 12:00:02.125+00', '1', '{"type":"round.completed","round":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '18', '2026-01-05 12:00:02.25+00', '1', '{"type":"round.started","round":2}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '19', '2026-01-05 12:00:02.375+00', '1', '{"type":"turn.started","turn":3,"slot":2,"round":2,"phase":"reply","tone":"rebuttal","seat":"part_1"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '2', '2026-01-05 12:00:00.25+00', '1', '{"type":"debate.started"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '20', '2026-01-05 12:00:02.5+00', '1', '{"type":"call.started","call":3,"model":"scripted/owl","request":"","attempt":1,"max_tokens":0,"input_bound":0,"reserved":"0","turn":3}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '21', '2026-01-05 12:00:02.625+00', '1', '{"type":"segment.completed","call":3,"segment":{"type":"reasoning","parts":[{"text":"Weighed elsewhere."}]}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '22', '2026-01-05 12:00:02.75+00', '1', '{"type":"segment.completed","call":3,"segment":{"type":"text","text":"What was said elsewhere in turn 3.","index":1}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '23', '2026-01-05 12:00:02.875+00', '1', '{"type":"call.completed","call":3,"finish":"stop","usage":{},"cost":"0.0125","latency_ms":0,"response_id":"resp_elsewhere_3","reason":"elsewhere"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '24', '2026-01-05 12:00:03+00', '1', '{"type":"turn.completed","turn":3,"words":7}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '25', '2026-01-05 12:00:03.125+00', '1', '{"type":"debate.paused","by":"elsewhere","reason":""}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '26', '2026-01-05 12:00:03.25+00', '1', '{"type":"debate.imported","source":"debate_sessions","record":{"id":"debate_1760443200000_k3x9","topic_text":"AI will replace most human jobs by 2040","model1_id":"owl","model2_id":"heron","adversarial_level":3,"turn_history":[{"turn":1,"modelId":"owl","content":"What was said elsewhere in turn 1.","reasoning":"Weighed elsewhere.","responseId":"resp_elsewhere_1","cost":0.0125},{"turn":2,"modelId":"heron","content":"What was said elsewhere in turn 2.","reasoning":"Weighed elsewhere.","responseId":"resp_elsewhere_2","cost":0.0125},{"turn":3,"modelId":"owl","content":"What was said elsewhere in turn 3.","reasoning":"Weighed elsewhere.","responseId":"resp_elsewhere_3","cost":0.0125}],"model1_response_ids":["resp_elsewhere_1","resp_elsewhere_3"],"model2_response_ids":["resp_elsewhere_2"],"total_cost":0.0375,"created_at":"2025-10-14T12:00:00","updated_at":"2025-10-14T12:05:00.5"}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '27', '2026-01-05 12:00:03.375+00', '1', '{"type":"debate.resumed","step":"turn"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '28', '2026-01-05 12:00:03.5+00', '1', '{"type":"turn.started","turn":4,"slot":3,"round":2,"phase":"reply","tone":"rebuttal","seat":"part_2"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '29', '2026-01-05 12:00:03.625+00', '1', '{"type":"debate.paused","by":"step","reason":""}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '3', '2026-01-05 12:00:00.375+00', '1', '{"type":"debate.ready"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '30', '2026-01-05 12:00:03.75+00', '1', '{"type":"call.started","call":4,"model":"scripted/heron","request":"705de160bd8ecb4bbb80a3f220c4125ad17419107830952ea1187b8441d6f363","attempt":1,"max_tokens":4096,"input_bound":1997,"reserved":"0","turn":4,"previous_response_id":"resp_elsewhere_2"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '31', '2026-01-05 12:00:03.875+00', '1', '{"type":"call.delta","call":4,"segment":0,"kind":"text","text":"Bread promise debt debt "}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '32', '2026-01-05 12:00:04+00', '1', '{"type":"call.delta","call":4,"segment":0,"kind":"text","text":"river danger trade voice"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '33', '2026-01-05 12:00:04.125+00', '1', '{"type":"call.delta","call":4,"segment":0,"kind":"text","text":" wheat ladder distance c"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '34', '2026-01-05 12:00:04.25+00', '1', '{"type":"call.delta","call":4,"segment":0,"kind":"text","text":"oal."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '35', '2026-01-05 12:00:04.375+00', '1', '{"type":"segment.completed","call":4,"segment":{"type":"text","text":"Bread promise debt debt river danger trade voice wheat ladder distance coal."}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '36', '2026-01-05 12:00:04.5+00', '1', '{"type":"call.completed","call":4,"finish":"stop","usage":{"input":500,"output":19},"cost":"0","latency_ms":250,"first_token_ms":50,"response_id":"resp_4"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '37', '2026-01-05 12:00:04.625+00', '1', '{"type":"turn.completed","turn":4,"words":12}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '38', '2026-01-05 12:00:04.75+00', '1', '{"type":"round.completed","round":2}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '39', '2026-01-05 12:00:04.875+00', '1', '{"type":"debate.stopped","reason":"Enough."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '4', '2026-01-05 12:00:00.5+00', '1', '{"type":"round.started","round":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '40', '2026-01-05 12:00:05+00', '1', '{"type":"debate.ended","reason":"stopped","detail":"Enough."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '5', '2026-01-05 12:00:00.625+00', '1', '{"type":"turn.started","turn":1,"slot":0,"round":1,"phase":"opening","tone":"opening","seat":"part_1"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '6', '2026-01-05 12:00:00.75+00', '1', '{"type":"call.started","call":1,"model":"scripted/owl","request":"","attempt":1,"max_tokens":0,"input_bound":0,"reserved":"0","turn":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '7', '2026-01-05 12:00:00.875+00', '1', '{"type":"segment.completed","call":1,"segment":{"type":"reasoning","parts":[{"text":"Weighed elsewhere."}]}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '8', '2026-01-05 12:00:01+00', '1', '{"type":"segment.completed","call":1,"segment":{"type":"text","text":"What was said elsewhere in turn 1.","index":1}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '9', '2026-01-05 12:00:01.125+00', '1', '{"type":"call.completed","call":1,"finish":"stop","usage":{},"cost":"0.0125","latency_ms":0,"response_id":"resp_elsewhere_1","reason":"elsewhere"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '1', '2026-01-05 12:00:00.125+00', '0', '{"type":"debate.opened","motion":"Cats are better than dogs","format":{"name":"free","title":"Free debate","summary":"Two sides take turns until the turns are spent, one gives way, or they go in circles.","chairs":[{"name":"For","side":"for"},{"name":"Against","side":"against"}],"phases":[{"key":"opening","title":"Opening","who":"each","tone":"opening","words":150},{"key":"reply","title":"Reply","who":"each","round":2,"words":150}],"turns":10,"max_turns":20,"repeat":2},"seats":[{"id":"a","name":"Seat 1","side":"for","model":{"provider":"scripted","name":"parrot","price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}}},{"id":"b","name":"Seat 2","side":"against","model":{"provider":"scripted","name":"parrot","price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}}}],"judges":[{"id":"judge","name":"Judge","model":{"provider":"scripted","name":"parrot","price":{"input":[{"start":0,"per_million":"0"}],"output":[{"start":0,"per_million":"0"}],"source":"local"}}}],"limits":{"rounds":1,"turns":2},"manner":{"winning":"user-decides"},"title":"","prompts":1,"fence":""}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '10', '2026-01-05 12:00:01.25+00', '1', '{"type":"call.delta","call":1,"segment":0,"kind":"text","text":"oice."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '11', '2026-01-05 12:00:01.375+00', '1', '{"type":"segment.completed","call":1,"segment":{"type":"text","text":"Measure hope wheat island bread border engine bread law measure copper voice."}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '12', '2026-01-05 12:00:01.5+00', '1', '{"type":"call.completed","call":1,"finish":"stop","usage":{"input":321,"output":20},"cost":"0","latency_ms":250,"first_token_ms":50,"response_id":"resp_1"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '13', '2026-01-05 12:00:01.625+00', '1', '{"type":"turn.completed","turn":1,"words":12}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '14', '2026-01-05 12:00:01.75+00', '1', '{"type":"turn.started","turn":2,"slot":1,"round":1,"phase":"opening","tone":"opening","seat":"b"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '15', '2026-01-05 12:00:01.875+00', '1', '{"type":"call.started","call":2,"model":"scripted/parrot","request":"64fa8120675625932e37fdd5bb44d496bfc2bf22dc26f591b2c05f5e5dc5afdb","attempt":1,"max_tokens":4096,"input_bound":1423,"reserved":"0","turn":2}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '16', '2026-01-05 12:00:02+00', '1', '{"type":"call.delta","call":2,"segment":0,"kind":"text","text":"River island promise whe"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '17', '2026-01-05 12:00:02.125+00', '1', '{"type":"call.delta","call":2,"segment":0,"kind":"text","text":"at copper promise border"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '18', '2026-01-05 12:00:02.25+00', '1', '{"type":"call.delta","call":2,"segment":0,"kind":"text","text":" wheat hope winter debt "}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '19', '2026-01-05 12:00:02.375+00', '1', '{"type":"call.delta","call":2,"segment":0,"kind":"text","text":"honest."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '2', '2026-01-05 12:00:00.25+00', '1', '{"type":"debate.started"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '20', '2026-01-05 12:00:02.5+00', '1', '{"type":"segment.completed","call":2,"segment":{"type":"text","text":"River island promise wheat copper promise border wheat hope winter debt honest."}}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '21', '2026-01-05 12:00:02.625+00', '1', '{"type":"call.completed","call":2,"finish":"stop","usage":{"input":356,"output":20},"cost":"0","latency_ms":250,"first_token_ms":50,"response_id":"resp_2"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '22', '2026-01-05 12:00:02.75+00', '1', '{"type":"turn.completed","turn":2,"words":12}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '23', '2026-01-05 12:00:02.875+00', '1', '{"type":"round.completed","round":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '24', '2026-01-05 12:00:03+00', '1', '{"type":"verdict.reached","verdict":{"outcome":"win","winner":"b","by":"hand","scores":{},"reasoning":"It moved me more.","criteria":{}},"judging":null}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '25', '2026-01-05 12:00:03.125+00', '1', '{"type":"debate.ended","reason":"decided","detail":"It moved me more."}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '3', '2026-01-05 12:00:00.375+00', '1', '{"type":"debate.ready"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '4', '2026-01-05 12:00:00.5+00', '1', '{"type":"round.started","round":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '5', '2026-01-05 12:00:00.625+00', '1', '{"type":"turn.started","turn":1,"slot":0,"round":1,"phase":"opening","tone":"opening","seat":"a"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '6', '2026-01-05 12:00:00.75+00', '1', '{"type":"call.started","call":1,"model":"scripted/parrot","request":"8cee43f0159d01a056ae03175ccb56b2673c7a11bc4beedf569e63f1290ade47","attempt":1,"max_tokens":4096,"input_bound":1284,"reserved":"0","turn":1}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '7', '2026-01-05 12:00:00.875+00', '1', '{"type":"call.delta","call":1,"segment":0,"kind":"text","text":"Measure hope wheat islan"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '8', '2026-01-05 12:00:01+00', '1', '{"type":"call.delta","call":1,"segment":0,"kind":"text","text":"d bread border engine br"}');
INSERT INTO "events" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '9', '2026-01-05 12:00:01.125+00', '1', '{"type":"call.delta","call":1,"segment":0,"kind":"text","text":"ead law measure copper v"}');
INSERT INTO "experiment_legs" OVERRIDING SYSTEM VALUE VALUES ('1', 'league', '["Zoos do more good than harm",["scripted/one","scripted/two"],1]', 'deb_01M7R5ZHZYZRN3NAXF3CD4C2AP', '0', '{"debate":"deb_01M7R5ZHZYZRN3NAXF3CD4C2AP","status":"completed","motion":"Zoos do more good than harm","headline":"Against wins","cost":0.0,"seconds":0.355,"judgments":[{"group":"Zoos do more good than harm | scripted/one | scripted/two","debate":"deb_01M7R5ZHZYZRN3NAXF3CD4C2AP","pro":"scripted/one","con":"scripted/two","judge":"scripted/coin","winner":"con","margin":-20.0,"experiment":"league","motion":"Zoos do more good than harm","format":"free","pro_seat":"part_1","con_seat":"part_2","reading":"chronological","order":0,"pro_label":"Birch","con_label":"Cedar","read_first":"pro","last_word":"con","pro_words":63,"con_words":39,"pro_markup":0,"con_markup":0,"pro_cost":0.0,"con_cost":0.0,"pro_seconds":0.038,"con_seconds":0.036,"judge_cost":0.0,"judge_seconds":0.02,"pro_addresses":0,"con_addresses":0,"seed":7,"transcript":"2750bff50f0d05994efbad4eef52e75c"},{"group":"Zoos do more good than harm | scripted/one | scripted/two","debate":"deb_01M7R5ZHZYZRN3NAXF3CD4C2AP","pro":"scripted/one","con":"scripted/two","judge":"scripted/coin","winner":"con","margin":6.0,"experiment":"league","motion":"Zoos do more good than harm","format":"free","pro_seat":"part_1","con_seat":"part_2","reading":"chronological","order":1,"pro_label":"Cedar","con_label":"Birch","read_first":"pro","last_word":"con","pro_words":63,"con_words":39,"pro_markup":0,"con_markup":0,"pro_cost":0.0,"con_cost":0.0,"pro_seconds":0.038,"con_seconds":0.036,"judge_cost":0.0,"judge_seconds":0.028,"pro_addresses":0,"con_addresses":0,"seed":7,"transcript":"2750bff50f0d05994efbad4eef52e75c"}],"seed":7,"transcript":"2750bff50f0d05994efbad4eef52e75c"}', 'completed', '0', NULL);
INSERT INTO "experiment_legs" OVERRIDING SYSTEM VALUE VALUES ('2', 'league', '["Zoos do more good than harm",["scripted/two","scripted/one"],1]', 'deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '0', '{"debate":"deb_01M7R5ZJ0SQPGZTE37N1X25WKT","status":"completed","motion":"Zoos do more good than harm","headline":"Too close to call","cost":0.0,"seconds":0.32,"judgments":[{"group":"Zoos do more good than harm | scripted/one | scripted/two","debate":"deb_01M7R5ZJ0SQPGZTE37N1X25WKT","pro":"scripted/two","con":"scripted/one","judge":"scripted/coin","winner":"pro","margin":9.0,"experiment":"league","motion":"Zoos do more good than harm","format":"free","pro_seat":"part_1","con_seat":"part_2","reading":"chronological","order":0,"pro_label":"Birch","con_label":"Cedar","read_first":"pro","last_word":"con","pro_words":63,"con_words":56,"pro_markup":0,"con_markup":0,"pro_cost":0.0,"con_cost":0.0,"pro_seconds":0.035,"con_seconds":0.048,"judge_cost":0.0,"judge_seconds":0.035,"pro_addresses":0,"con_addresses":0,"seed":7,"transcript":"f28f8cad5c7d056603601107e6ce40e1"},{"group":"Zoos do more good than harm | scripted/one | scripted/two","debate":"deb_01M7R5ZJ0SQPGZTE37N1X25WKT","pro":"scripted/two","con":"scripted/one","judge":"scripted/coin","winner":"con","margin":-13.0,"experiment":"league","motion":"Zoos do more good than harm","format":"free","pro_seat":"part_1","con_seat":"part_2","reading":"chronological","order":1,"pro_label":"Cedar","con_label":"Birch","read_first":"pro","last_word":"con","pro_words":63,"con_words":56,"pro_markup":0,"con_markup":0,"pro_cost":0.0,"con_cost":0.0,"pro_seconds":0.035,"con_seconds":0.048,"judge_cost":0.0,"judge_seconds":0.024,"pro_addresses":0,"con_addresses":0,"seed":7,"transcript":"f28f8cad5c7d056603601107e6ce40e1"}],"seed":7,"transcript":"f28f8cad5c7d056603601107e6ce40e1"}', 'completed', '0.5', NULL);
INSERT INTO "experiments" OVERRIDING SYSTEM VALUE VALUES ('league', '{"name":"league","models":["scripted/one","scripted/two"],"motions":["Zoos do more good than harm"],"format":"free","judges":["scripted/coin"],"seed":7,"options":{"turns":2},"passages":{}}', 'done', '1', '2026-11-18 20:36:11.340141+00', '2026-11-18 20:36:11.903771+00', '2026-11-18 20:36:11.340141+00');
INSERT INTO "heads" OVERRIDING SYSTEM VALUE VALUES ('deb_01M7R5ZJ0SQPGZTE37N1X25WKT', '4', '38', '38', '1795034171143', '', '2026-11-18 20:36:11.771227+00', '19975');
INSERT INTO "heads" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', '1', '19', '19', '1', '', '2026-01-05 12:00:02.375+00', '3320');
INSERT INTO "heads" OVERRIDING SYSTEM VALUE VALUES ('deb_brought', '3', '40', '40', '1', '', '2026-01-05 12:00:05+00', '5692');
INSERT INTO "heads" OVERRIDING SYSTEM VALUE VALUES ('deb_by-hand', '2', '25', '25', '1', '', '2026-01-05 12:00:03.125+00', '3516');
INSERT INTO "imports" OVERRIDING SYSTEM VALUE VALUES ('imp_5654c6deb521bc3ec647', '', '/tmp/tmpptel6j_a/old.jsonl', 'done', '', '2', '{"seen":{"rows":6,"segments":{"text":5,"image":2,"reasoning":2,"tool_result":1}},"kept":{"rows":6,"segments":{"text":5,"image":2,"reasoning":2,"tool_result":1}},"conversations":1,"new":0,"changed":0,"bad":0,"problems":[],"dry":false,"lost":[]}', '2026-11-18 20:36:28.811443+00', '2026-11-18 20:36:28.988723+00');
INSERT INTO "invitations" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', 'bob', '37390135a7ecae16134e91f068e8b61ea804bb9d4e783baff790a38ac0c308e1', 'audience', '2026-03-01 12:00:00+00', NULL, NULL, 'false', NULL, '3cbaeb57c64020ee4df47e9274d1d0d90f3148a3c14af8190006fa680fb10ebd');
INSERT INTO "invitations" OVERRIDING SYSTEM VALUE VALUES ('deb_aborted', 'hall', '3cbaeb57c64020ee4df47e9274d1d0d90f3148a3c14af8190006fa680fb10ebd', 'audience', '2026-03-01 12:00:00+00', NULL, NULL, 'true', NULL, NULL);
INSERT INTO "landed" OVERRIDING SYSTEM VALUE VALUES ('d28071b6-3163-4353-aa32-ee6c990b57c1', '1', '{0}', '{1}', '2026-11-18 20:36:07.034984+00');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('response resp_4', '3');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('response resp_elsewhere_1', '3');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('response resp_elsewhere_2', '3');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('response resp_elsewhere_3', '3');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('response turn_deb_brought_1', '3');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('response turn_deb_brought_2', '3');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('response turn_deb_brought_3', '3');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('response turn_deb_brought_4', '3');
INSERT INTO "marks" OVERRIDING SYSTEM VALUE VALUES ('row debate_1760443200000_k3x9', '3');
INSERT INTO "moot_schema" OVERRIDING SYSTEM VALUE VALUES ('1', '2026-11-18 20:36:06.8355+00');
INSERT INTO "moot_schema" OVERRIDING SYSTEM VALUE VALUES ('2', '2026-11-18 20:36:06.915274+00');
INSERT INTO "moot_schema" OVERRIDING SYSTEM VALUE VALUES ('3', '2026-11-18 20:36:06.943889+00');
INSERT INTO "moot_schema" OVERRIDING SYSTEM VALUE VALUES ('4', '2026-11-18 20:36:06.945079+00');
INSERT INTO "moot_schema" OVERRIDING SYSTEM VALUE VALUES ('5', '2026-11-18 20:36:06.96321+00');
INSERT INTO "moot_schema" OVERRIDING SYSTEM VALUE VALUES ('6', '2026-11-18 20:36:06.979655+00');
INSERT INTO "moot_schema" OVERRIDING SYSTEM VALUE VALUES ('7', '2026-11-18 20:36:06.982006+00');
INSERT INTO "requests" OVERRIDING SYSTEM VALUE VALUES ('Ann''s browser', 'deb_aborted', 'hash', 'deb_aborted', '1', '1', '2026-01-06 12:00:00.125+00');
INSERT INTO "requests" OVERRIDING SYSTEM VALUE VALUES ('Ann''s browser', 'deb_brought', 'hash', 'deb_brought', '1', '1', '2026-01-06 12:00:00.125+00');
INSERT INTO "requests" OVERRIDING SYSTEM VALUE VALUES ('Ann''s browser', 'deb_by-hand', 'hash', 'deb_by-hand', '1', '1', '2026-01-06 12:00:00.125+00');
INSERT INTO "tokens" OVERRIDING SYSTEM VALUE VALUES ('ann', '206cbee7070ba6899f758874b426373e9aa9bbd8d4bdac62452d618a58b5e329', 'owner', 'ann', '2026-03-01 12:00:00+00', NULL);
INSERT INTO "tokens" OVERRIDING SYSTEM VALUE VALUES ('guest', '84983c60f7daadc1cb8698621f802c0d9f9a3c3c295c810748fb048115c186ec', 'viewer', '', '2026-03-01 12:00:00+00', '2026-03-02 12:00:00+00');
SELECT setval('public.debates_place_seq', 5);
SELECT setval('public.conversations_place_seq', 2);
SELECT setval('public.experiment_legs_place_seq', 2);
