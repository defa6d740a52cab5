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
