// Limits end work in time, and an interrupt ends it sooner, never later.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { later, limit } from "../src/limit.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a limit", () => {
  test("aborts after its time", () => {
    const signal = limit(1000);
    vi.advanceTimersByTime(999);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  test("aborts a grace after an interrupt", () => {
    const interrupt = new AbortController();
    const signal = limit(100_000, interrupt.signal, 20);
    vi.advanceTimersByTime(50_000);
    interrupt.abort();
    vi.advanceTimersByTime(19);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  test("is not put off by an interrupt shortly before", () => {
    const interrupt = new AbortController();
    const signal = limit(1000, interrupt.signal, 500);
    vi.advanceTimersByTime(900);
    interrupt.abort();
    vi.advanceTimersByTime(100);
    expect(signal.aborted).toBe(true);
  });
});

describe("later", () => {
  test("counts from now where the signal has aborted already", () => {
    const signal = later(AbortSignal.abort(), 10);
    expect(signal?.aborted).toBe(false);
    vi.advanceTimersByTime(10);
    expect(signal?.aborted).toBe(true);
  });

  test("is never without a signal", () => {
    expect(later(undefined, 10)).toBeUndefined();
  });
});
