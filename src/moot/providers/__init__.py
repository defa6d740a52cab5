"""Those who make models speak. `contract` says what each promises; `table` knows them by name."""
