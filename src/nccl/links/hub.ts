/**
 * Links between processes by TCP: rank 0 listens, the others connect to it, and what is not for rank 0 goes through it. A star is slow
 * and simple; data of NCCL's transport does not come this way.
 */
import type { Server, Socket } from 'node:net';
import { TsambaTypeError } from '../../errors.ts';
import { atExit, nodeModule } from '../../host/index.ts';
import { CommunicatorError } from '../errors.ts';
import { encodeFrame, type Frame, FrameReader, TO_ALL } from './frames.ts';
import { isProof, joined, nonce, proof, splitHello } from './handshake.ts';
import { type Link, Mailbox, type Message } from './link.ts';

/** Where the ranks of a job meet. */
export interface Meeting {
  readonly rank: number;
  readonly size: number;
  readonly host: string;
  readonly port: number;
  /** What all ranks know and nobody else; empty for none. */
  readonly token: string;
  /** Milliseconds that ranks may take to come. */
  readonly timeout: number;
}

/** Bytes of a frame from who has not shown who it is. */
const STRANGER = 1024;
const EMPTY = new Uint8Array(0);
/** Milliseconds between attempts to reach rank 0, which may start later than the others. */
const RETRY = 50;

/** Meets the other ranks; resolves when all are there. Rejects with CommunicatorError, naming who is not. */
export async function meet(meeting: Meeting): Promise<Link> {
  if (meeting.token === '' && !isLoopback(meeting.host)) {
    throw new TsambaTypeError(
      'E_NCCL_ARGUMENT',
      `the ranks meet at ${meeting.host}, which others can reach: give all of them the same secret in TSAMBA_NCCL_TOKEN, such as the output of openssl rand -hex 16`,
    );
  }
  return meeting.rank === 0 ? Hub.open(meeting) : Spoke.open(meeting);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** Writes a frame; the process stays until it has gone. */
function write(socket: Socket, frame: Frame): void {
  const pieces = encodeFrame(frame);
  socket.ref();
  pieces.forEach((piece, k) => {
    if (k < pieces.length - 1) socket.write(piece);
    else socket.write(piece, () => (socket.writableLength === 0 ? rest(socket) : undefined));
  });
}

/** Those that have nothing to write, and are not the last thing that others need, keep no process alive. */
const KEPT = new WeakSet<Socket>();
function rest(socket: Socket): void {
  if (!KEPT.has(socket)) socket.unref();
}

/** Rank 0: listens, and passes on what is for others. */
class Hub extends Mailbox {
  readonly #meeting: Meeting;
  readonly #server: Server;
  readonly #sockets = new Map<number, Socket>();
  readonly #left = new Set<number>();

  private constructor(meeting: Meeting) {
    super(0, meeting.size);
    this.#meeting = meeting;
    this.#server = nodeModule('node:net').createServer((socket) => this.#admit(socket));
    atExit((code) => (code === 0 ? this.#tell(0, '!left', '') : undefined));
  }

  static async open(meeting: Meeting): Promise<Link> {
    const hub = new Hub(meeting);
    await new Promise<void>((resolve, reject) => {
      hub.#server.once('error', (cause: Error) => {
        const at = `${meeting.host}:${meeting.port}`;
        reject(
          new CommunicatorError(
            'E_NCCL',
            `rank 0 cannot listen at ${at} (${cause.message}); MASTER_PORT or TSAMBA_NCCL_PORT says another port`,
            {
              cause,
            },
          ),
        );
      });
      hub.#server.listen(meeting.port, meeting.host, resolve);
    });
    await hub.#assembled();
    return hub;
  }

  #onArrival: () => void = () => undefined;

  #assembled(): Promise<void> {
    const { size, timeout } = this.#meeting;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const missing = Array.from({ length: size }, (_, r) => r).filter((r) => r > 0 && !this.#sockets.has(r));
        const reason = `${missing.length === 1 ? 'rank' : 'ranks'} ${missing.join(', ')} did not come within ${timeout} ms`;
        for (const socket of this.#sockets.values()) refuse(socket, reason);
        this.#server.close();
        reject(new CommunicatorError('E_NCCL_TIMEOUT', reason, missing[0] === undefined ? {} : { rank: missing[0] }));
      }, timeout);
      this.#onArrival = () => {
        if (this.#sockets.size < size - 1) return;
        clearTimeout(timer);
        // Nobody else belongs to the job. Connections stay.
        this.#server.close();
        for (const [to, socket] of this.#sockets)
          write(socket, { from: 0, to, key: '!ready', what: '', payload: EMPTY });
        resolve();
      };
      this.#onArrival();
    });
  }

  /** Somebody has connected: who it is has to be shown. */
  #admit(socket: Socket): void {
    const { token } = this.#meeting;
    const asked = nonce();
    const reader = new FrameReader(STRANGER);
    let rank: number | undefined;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 10_000);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => (rank === undefined ? undefined : this.#disconnected(rank)));
    socket.on('data', (piece: Uint8Array) => {
      try {
        for (const frame of reader.push(piece)) {
          if (rank !== undefined) {
            this.#pass(rank, frame);
            continue;
          }
          rank = this.#identify(socket, frame, asked, token);
          if (rank === undefined) continue;
          reader.limit = Number.POSITIVE_INFINITY;
          this.#onArrival();
        }
      } catch {
        socket.destroy();
      }
    });
    write(socket, { from: 0, to: TO_ALL, key: '!who', what: '', payload: asked });
  }

  #identify(socket: Socket, { from, key, what, payload }: Frame, asked: Uint8Array, token: string): number | undefined {
    const { size } = this.#meeting;
    const { asked: theirs, answer } = splitHello(payload);
    const refused = (reason: string): undefined => void refuse(socket, reason);
    if (key !== '!hello' || !isProof(answer, token, `${from}/${what}`, asked)) {
      return refused('its token is another one: TSAMBA_NCCL_TOKEN must be the same for all ranks');
    }
    if (Number(what) !== size) return refused(`it expects ${what} ranks, and rank 0 expects ${size}`);
    if (!(from > 0 && from < size)) return refused(`there is no rank ${from} among ${size}`);
    if (this.#sockets.has(from))
      return refused(`there is a rank ${from} already: each process needs a rank of its own`);
    this.#sockets.set(from, socket);
    // Rank 0 has to stay until the others have left: what they say to each other goes through it.
    KEPT.add(socket);
    write(socket, { from: 0, to: from, key: '!welcome', what: '', payload: proof(token, 'hub', theirs) });
    return from;
  }

  /** From one rank to where it belongs. Who sent it is known from the connection. */
  #pass(from: number, frame: Frame): void {
    if (frame.key === '!left') {
      this.#left.add(from);
      this.#ended(from, true);
    } else if (frame.key === '!abort') {
      this.over(from, frame.what);
      this.#tell(from, '!abort', frame.what);
    } else if (frame.to === 0) {
      this.receive({ from, key: frame.key, what: frame.what, payload: frame.payload });
    } else {
      this.carry(frame.to, { from, key: frame.key, what: frame.what, payload: frame.payload });
    }
  }

  #disconnected(rank: number): void {
    this.#sockets.delete(rank);
    if (!this.#left.has(rank)) this.#ended(rank, false);
  }

  #ended(rank: number, hasLeft: boolean): void {
    // The others first: who listens here may end the job for all, and they would hear of that, not of the rank that was lost.
    this.#tell(rank, hasLeft ? '!left' : '!lost', '');
    this.gone(rank, !hasLeft);
  }

  #tell(from: number, key: string, what: string): void {
    for (const [to, socket] of this.#sockets) {
      if (to !== from && !socket.destroyed) write(socket, { from, to, key, what, payload: EMPTY });
    }
  }

  protected override carry(to: number, message: Message): void {
    const socket = this.#sockets.get(to);
    if (socket !== undefined && !socket.destroyed) write(socket, { ...message, to });
  }

  protected override async announce(key: 'left' | 'abort', what: string): Promise<void> {
    this.#tell(0, `!${key}`, what);
  }
}

function refuse(socket: Socket, reason: string): void {
  write(socket, { from: 0, to: TO_ALL, key: '!refused', what: reason.slice(0, 500), payload: EMPTY });
  socket.end();
}

/** All other ranks: one connection, to rank 0. */
class Spoke extends Mailbox {
  readonly #socket: Socket;
  #closed = false;

  private constructor(meeting: Meeting, socket: Socket) {
    super(meeting.rank, meeting.size);
    this.#socket = socket;
    // A program that ends well has left; its last words are written at once.
    atExit((code) => (code === 0 ? void this.announce('left', '') : undefined));
  }

  static async open(meeting: Meeting): Promise<Link> {
    const until = Date.now() + meeting.timeout;
    for (;;) {
      const socket = await reach(meeting.host, meeting.port);
      if (socket !== undefined) return new Spoke(meeting, socket).#introduce(meeting, until);
      if (Date.now() > until) {
        const where = `${meeting.host}:${meeting.port}`;
        throw new CommunicatorError(
          'E_NCCL_TIMEOUT',
          `rank 0 did not listen at ${where} within ${meeting.timeout} ms`,
          { rank: 0 },
        );
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }

  /** Shows who this is, and waits until all are there. */
  #introduce({ rank, size, token, timeout }: Meeting, until: number): Promise<Link> {
    const socket = this.#socket;
    const reader = new FrameReader(STRANGER);
    const asked = nonce();
    return new Promise((resolve, reject) => {
      let ready = false;
      const failed = (code: 'E_NCCL' | 'E_NCCL_TIMEOUT', message: string): void => {
        clearTimeout(timer);
        socket.destroy();
        reject(new CommunicatorError(code, message, { rank: code === 'E_NCCL' ? rank : 0 }));
      };
      const late = `not all ranks came within ${timeout} ms`;
      // Rank 0 says better who is missing, a moment before.
      const timer = setTimeout(() => failed('E_NCCL_TIMEOUT', late), Math.max(until - Date.now(), 0) + 2_000);
      const early = ({ key, what, payload }: Frame): void => {
        if (key === '!who') {
          const hello = joined(asked, proof(token, `${rank}/${size}`, payload));
          write(socket, { from: rank, to: 0, key: '!hello', what: String(size), payload: hello });
        } else if (key === '!welcome') {
          if (!isProof(payload, token, 'hub', asked))
            failed('E_NCCL', 'whoever listens there does not know the token of this job');
          else reader.limit = Number.POSITIVE_INFINITY;
        } else if (key === '!refused') {
          failed(what.includes('did not come') ? 'E_NCCL_TIMEOUT' : 'E_NCCL', `rank 0 refused rank ${rank}: ${what}`);
        } else if (key === '!ready') {
          ready = true;
          clearTimeout(timer);
          socket.unref();
          resolve(this);
        }
      };
      socket.on('data', (piece: Uint8Array) => {
        try {
          for (const frame of reader.push(piece)) ready ? this.#take(frame) : early(frame);
        } catch {
          socket.destroy();
        }
      });
      socket.on('close', () => {
        if (!ready) failed('E_NCCL', 'rank 0 ended before all ranks were there');
        else if (!this.#closed) this.gone(0, true);
      });
    });
  }

  #take({ from, key, what, payload }: Frame): void {
    if (key === '!left') this.gone(from, false);
    else if (key === '!lost') this.gone(from, true);
    else if (key === '!abort') this.over(from, what);
    else this.receive({ from, key, what, payload });
  }

  protected override carry(to: number, message: Message): void {
    if (!this.#socket.destroyed) write(this.#socket, { ...message, to });
  }

  protected override async announce(key: 'left' | 'abort', what: string): Promise<void> {
    if (this.#socket.destroyed || this.#closed) return;
    this.carry(0, { from: this.rank, key: `!${key}`, what, payload: EMPTY });
    if (key === 'abort') return;
    this.#closed = true;
    await new Promise<void>((resolve) => {
      this.#socket.end(resolve);
    });
  }
}

/** A connection; undefined where nobody listens yet. */
function reach(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = nodeModule('node:net').connect(port, host);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 10_000);
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => {
      socket.destroy();
      resolve(undefined);
    });
  });
}
