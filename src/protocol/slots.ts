// What a lease's record remembers of schedules: by schedule, the nominal time of the newest slot that succeeded.

/** ISO 8601 times by schedule. */
export type DoneSlots = Record<string, string>;

/** Schedules that a lease remembers at the most; of more, those whose last success is oldest go. */
const mostSchedules = 50;

/** The field of a record that follows one with `before`, after `done` succeeded. */
export function withSlots(before: DoneSlots = {}, done: DoneSlots = {}): { slots?: DoneSlots } {
  const entries = Object.entries({ ...before, ...done }).sort(
    ([, a], [, b]) => Date.parse(b) - Date.parse(a),
  );
  return entries.length === 0 ? {} : { slots: Object.fromEntries(entries.slice(0, mostSchedules)) };
}
