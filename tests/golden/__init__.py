"""Golden logs: debates as earlier versions wrote them, and what must always be read from them.

Each `NAME.jsonl` is a log, one record a line; `NAME.json` beside it says what it folds to. They are never
rewritten: a change that reads one of them differently is a change of meaning, and needs a new tag and an
upcast instead. New scenes are added to `scenes.py` and made by

    python -m tests.golden            the scenes that have no log yet
    python -m tests.golden NAME ...   these scenes alone

    python -m tests.golden --prompts  the words that are sent, after a change that is meant

`NAME.prompts.txt` shows, for the scenes that hold a whole format, who speaks when and what each model is
sent. It follows the program, as a log never does. `prompts_1` has the words of the first version of the
prompts, which debates that were opened with it are still told; it stays as it is. An existing log is kept
unless `--force` is given, which is only for logs that no release has written.
"""
