// The only file that makes random values.
import { randomUUID } from "node:crypto";

export interface Chance {
  /** A fresh nonce, unlike any other. */
  nonce(): string;
  /** From 0 up to 1. */
  random(): number;
}

export const systemChance: Chance = { nonce: randomUUID, random: Math.random };
