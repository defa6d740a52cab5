// What a format does in a setup: its summary without what needs an audience if there is none, who gives the speeches
// of a team, and who decides.

const OF_AUDIENCE = /;? where there is an audience, it /;

export function formatSummary(format, setup) {
  const { config, seats } = setup;
  const hasAudience = config.audience || config.winningCondition === 'audience';
  // The server adds the ways to decide a debate; only one of them is used here.
  const [first] = format.summary.split(/(?<=[.。]) /);
  const [plain, rest] = first.split(OF_AUDIENCE);
  const summary = rest === undefined ? plain : hasAudience ? `${plain}; the audience ${rest}` : `${plain}.`;
  return [summary, teams(format, seats), decision(format, config, seats)].filter(Boolean).join(' ');
}

/** Where a side has more speakers than seats. */
function teams(format, seats) {
  const speakers = Math.max(...format.phases.map((phase) => (phase.speaksAs ? phase.member : 1)));
  const teamCount = new Set(format.phases.map((phase) => `${phase.speaker} ${phase.team}`)).size;
  return speakers > 1 && seats.length < speakers * teamCount ? 'Each seat gives all speeches of its team.' : '';
}

function decision(format, { winningCondition, voteBefore }, seats) {
  if (winningCondition === 'user-decides') return 'You decide who wins.';
  if (winningCondition === 'audience') {
    return format.result === 'swing' && voteBefore
      ? 'The side that wins over more of the audience wins.'
      : 'The side with more votes of the audience wins.';
  }
  const judges = format.result === 'ranking' && seats.length >= format.chairs.length ? 'rank all teams' : 'decide';
  return winningCondition === 'self-terminate' ? `A side can concede; else the judges ${judges}.` : `The judges ${judges}.`;
}
