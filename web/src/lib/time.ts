// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

const inDays = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const inUnits = new Intl.RelativeTimeFormat('en');

/** relative says how far a time is from now, to the nearest: "in 5 minutes", "3 days ago". Days are those of the local calendar. */
export function relative(time: string, now: number): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  if (Number.isNaN(seconds)) return '–';
  if (Math.abs(seconds) < 10) return seconds > 0 ? 'in a few seconds' : 'just now';
  if (Math.abs(seconds) < 60) return inUnits.format(seconds, 'second');
  const minutes = Math.round(seconds / 60);
  if (Math.abs(minutes) < 60) return inUnits.format(minutes, 'minute');
  const hours = Math.round(seconds / 3600);
  const days = midnights(now, Date.parse(time));
  if (Math.abs(hours) < 24 || days === 0) return inUnits.format(hours, 'hour');
  if (Math.abs(days) < 30) return inDays.format(days, 'day');
  const months = Math.round(days / 30.44);
  return Math.abs(months) < 12 ? inUnits.format(months, 'month') : inUnits.format(Math.round(days / 365.25), 'year');
}

/** midnights is how many days of the local calendar lie between two times. */
function midnights(from: number, to: number): number {
  return Math.round((new Date(to).setHours(0, 0, 0, 0) - new Date(from).setHours(0, 0, 0, 0)) / 86400000);
}

/** exact is the local time with its zone, for people. */
export function exact(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return date.toLocaleString('en-GB', {
    weekday: 'short', day: 'numeric', month: 'short', year: 'numeric',
    hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short',
  });
}

/** clock is the local time of the day, to the second. */
export function clock(time: string): string {
  return new Date(time).toLocaleTimeString('en-GB');
}

/** seconds says how long something took: "0.4 s", "2 min 5 s". */
export function seconds(value: number): string {
  if (value < 10) return `${Math.round(value * 10) / 10} s`;
  const whole = Math.round(value);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return join([[Math.floor(whole / 60), 'min'], [whole % 60, 's']]);
  if (whole < 86400) return join([[Math.floor(whole / 3600), 'h'], [Math.floor((whole % 3600) / 60), 'min']]);
  return join([[Math.floor(whole / 86400), 'd'], [Math.floor((whole % 86400) / 3600), 'h']]);
}

function join(parts: [number, string][]): string {
  return parts.filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`).join(' ');
}

/** readable writes the times of a text as local times, and durations such as 168h0m0s as "7 days". */
export function readable(text: string | undefined): string {
  return (text ?? '')
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, exact)
    .replace(/(?<![\w./-])(?:(\d+)h)?(\d+)m(\d+)(?:\.\d+)?s(?![\w/-])/g, (_, hours = '0', minutes, rest) => long(Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)));
}

function long(value: number): string {
  const [unit, size] = ([['day', 86400], ['hour', 3600], ['minute', 60]] as const).find(([, each]) => value > 0 && value % each === 0) ?? ['', 0];
  return size ? `${value / size} ${unit}${value === size ? '' : 's'}` : seconds(value);
}
