// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const named: Record<string, string> = {
  '@hourly': '0 * * * *', '@daily': '0 0 * * *', '@midnight': '0 0 * * *', '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *', '@yearly': '0 0 1 1 *', '@annually': '0 0 1 1 *',
};

/** cronWords says a usual schedule in words, and returns undefined for one that needs more than a few. */
export function cronWords(schedule: string): string | undefined {
  let zone = '';
  let text = schedule.trim();
  const prefix = /^(?:CRON_)?TZ=(\S+)\s+/.exec(text);
  if (prefix) { zone = ` (${prefix[1]})`; text = text.slice(prefix[0].length); }
  const every = /^@every\s+(\S+)$/.exec(text);
  if (every) return `every ${every[1]}`;
  const fields = (named[text] ?? text).split(/\s+/);
  if (fields.length !== 5) return undefined;
  const [minute, hour, dayOfMonth, month, weekday] = fields as [string, string, string, string, string];
  const when = dayWords(dayOfMonth, month, weekday);
  const time = timeWords(minute, hour);
  if (!when || !time) return undefined;
  if (!time.startsWith('at ')) return (when === 'every day' ? time : `${time}, ${when}`) + zone;
  return `${when} ${time}${zone}`;
}

function timeWords(minute: string, hour: string): string | undefined {
  const isNumber = /^\d+$/;
  const step = /^\*\/(\d+)$/;
  if (hour === '*') {
    if (minute === '*') return 'every minute';
    if (step.test(minute)) return `every ${step.exec(minute)![1]} minutes`;
    return isNumber.test(minute) ? `every hour at minute ${minute}` : undefined;
  }
  if (!isNumber.test(minute)) return undefined;
  if (step.test(hour)) return `every ${step.exec(hour)![1]} hours at minute ${minute}`;
  const hours = hour.split(',');
  if (!hours.every((h) => isNumber.test(h))) return undefined;
  return `at ${list(hours.map((h) => `${h.padStart(2, '0')}:${minute.padStart(2, '0')}`))}`;
}

function dayWords(dayOfMonth: string, month: string, weekday: string): string | undefined {
  if (month !== '*') return undefined;
  if (dayOfMonth === '*' && weekday === '*') return 'every day';
  if (dayOfMonth === '*') {
    if (weekday === '1-5' || /^mon-fri$/i.test(weekday)) return 'Monday to Friday';
    const names = weekday.split(',').map(dayName);
    return names.every(Boolean) ? `every ${list(names as string[])}` : undefined;
  }
  if (weekday === '*' && /^\d+$/.test(dayOfMonth)) return `on day ${dayOfMonth} of every month`;
  return undefined;
}

function dayName(text: string): string | undefined {
  if (/^[0-7]$/.test(text)) return days[Number(text)];
  return days.find((day) => day.slice(0, 3).toLowerCase() === text.toLowerCase());
}

function list(words: string[]): string {
  if (words.length < 2) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}
