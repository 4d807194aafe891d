/**
 * How a process shows that it belongs to the job: by the hash of a random number with the job's token, which itself is never sent. Each
 * side asks the other. What is sent afterwards is not encrypted, as NCCL's own connections are not.
 */
import { nodeModule } from '../../host/index.ts';

const NONCE = 32;

/** A random number to be answered. */
export function nonce(): Uint8Array {
  return new Uint8Array(nodeModule('node:crypto').randomBytes(NONCE));
}

/** The answer of a side (`hub`, or a rank and what it takes the size to be) to a random number. */
export function proof(token: string, side: string, asked: Uint8Array): Uint8Array {
  return new Uint8Array(
    nodeModule('node:crypto').createHmac('sha256', `tsamba-nccl:${token}`).update(side).update(asked).digest(),
  );
}

/** Whether an answer is right, in the same time whatever it is. */
export function isProof(given: Uint8Array, token: string, side: string, asked: Uint8Array): boolean {
  const right = proof(token, side, asked);
  return given.length === right.length && nodeModule('node:crypto').timingSafeEqual(given, right);
}

/** What a rank sends: its own random number, then its answer. */
export function splitHello(payload: Uint8Array): { readonly asked: Uint8Array; readonly answer: Uint8Array } {
  return { asked: payload.slice(0, NONCE), answer: payload.slice(NONCE) };
}

/** Bytes one after another. */
export function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
