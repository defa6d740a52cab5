// Debates and their cost per day, as a chart and as a table.

import { uPlot } from '../../vendor/chart.js';
import { html, useEffect, useRef } from '../../vendor/preact.js';
import { dollars } from '../lib/numbers.js';
import { theme } from '../lib/preferences.js';

const HEIGHT = 200;
const DAY = 86_400;
const STEPS = [1, 2, 7, 30, 90].map((days) => days * DAY);
const bars = uPlot.paths.bars({ size: [0.6, 24] });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `days`: [{day, debates, cost, costText}], the earliest first. */
export default function Days({ days }) {
  const box = useRef();
  const chosen = theme.value;
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    let chart = drawn(box.current, days);
    const again = () => {
      chart.destroy();
      chart = drawn(box.current, days);
    };
    const fit = new ResizeObserver(([{ contentRect: { width } }]) => chart.setSize({ width, height: HEIGHT }));
    fit.observe(box.current);
    dark.addEventListener('change', again);
    return () => {
      fit.disconnect();
      dark.removeEventListener('change', again);
      chart.destroy();
    };
  }, [days, chosen]);
  return html`<link rel="stylesheet" href="/vendor/chart.css" />
    <div class="days" ref=${box} aria-hidden="true"></div>
    <details><summary>As a table</summary><div class="scroller"><table>
      <thead><tr>
        <th scope="col">Day</th><th scope="col" class="end">Debates</th><th scope="col" class="end">Cost</th>
      </tr></thead>
      <tbody>${days.toReversed().map((day) => html`<tr key=${day.day}>
        <th scope="row">${day.day}</th><td class="end">${day.debates}</td><td class="end">${day.costText}</td>
      </tr>`)}</tbody>
    </table></div></details>`;
}

function drawn(box, days) {
  const colour = colours(box);
  const none = { show: false };
  const axis = { stroke: colour.soft, font: '12px system-ui, sans-serif', ticks: none, grid: none };
  const grid = { stroke: colour.line, width: 1 };
  const exact = new Map(days.map((day) => [day.day, day.costText]));
  const dayOf = (at) => new Date(at * 1000).toISOString().slice(0, 10);
  const options = {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { markers: { width: 0, fill: (_, index) => (index === 1 ? colour.bar : colour.ink) } },
    cursor: { y: false, points: none, drag: { x: false, y: false } },
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC'),
    scales: {
      x: { time: true },
      count: { range: (_, __, most) => [0, Math.max(3, most * 1.1)] },
      cost: { range: (_, __, most) => [0, most * 1.1 || 1] },
    },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((at) => date.format(at * 1000)), incrs: STEPS, space: 60 },
      { ...axis, scale: 'count', grid, incrs: [1, 2, 5, 10, 20, 50, 100, 500, 1000], size: 36 },
      { ...axis, scale: 'cost', side: 1, values: (_, ticks) => ticks.map(dollars), size: 56 },
    ],
    series: [
      { label: 'Day', value: (_, at) => (at === null ? '' : dayOf(at)) },
      { label: 'Debates', scale: 'count', paths: bars, fill: colour.bar, width: 0, points: none },
      {
        // A single day is a point: a line needs two.
        label: 'Cost', scale: 'cost', stroke: colour.ink, width: 1.5,
        points: days.length > 1 ? none : { show: true, size: 8, fill: colour.ink },
        value: (chart, cost, _, at) => (cost === null ? '' : exact.get(dayOf(chart.data[0][at])) ?? ''),
      },
    ],
  };
  return new uPlot(options, filled(days), box);
}

/** Adds days without debates, and one at each end: columns at the edge would be cut in half. */
function filled(days) {
  const known = new Map(days.map((day) => [Date.parse(day.day) / 1000, day]));
  const moments = [...known.keys()];
  const columns = [[], [], []];
  for (let at = Math.min(...moments) - DAY; at <= Math.max(...moments) + DAY; at += DAY) {
    const added = at < Math.min(...moments) || at > Math.max(...moments);
    const { debates = 0, cost = added ? null : 0 } = known.get(at) ?? {};
    [at, debates, cost].forEach((value, index) => columns[index].push(value));
  }
  return columns;
}

/** The colours of the theme: a canvas knows no CSS variables. */
function colours(box) {
  const probe = document.createElement('i');
  box.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const palette = { ink: read('ink'), soft: read('soft'), bar: read('edge'), line: read('line') };
  probe.remove();
  return palette;
}
