/**
 * Pages as they look: whether they are wider than a phone, and pictures of them in light, dark and on a phone.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chromium } from '../../test/support/chromium.ts';

type Send = (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>;
type Address = (name: string) => string;

interface View {
  readonly name: string;
  readonly theme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
}

const PHONE: View = { name: 'phone', theme: 'light', width: 390, height: 844 };
const VIEWS: readonly View[] = [
  { name: 'light', theme: 'light', width: 1280, height: 900 },
  { name: 'dark', theme: 'dark', width: 1280, height: 900 },
  PHONE,
  { ...PHONE, name: 'phone-dark', theme: 'dark' },
];

/** Pages that scroll sideways on a phone. */
export async function checkPhone(browser: Chromium, names: readonly string[], addressOf: Address): Promise<string[]> {
  const problems: string[] = [];
  await withView(browser, PHONE, addressOf, async (_send, open) => {
    for (const name of names) {
      const width = await open(name, 'document.documentElement.scrollWidth');
      if (Number(width) > PHONE.width) problems.push(`${name} is ${width} pixels wide on a phone of ${PHONE.width}`);
    }
  });
  return problems;
}

/** Each page from its top to its end, or as far as is worth looking at. */
export async function takePictures(
  browser: Chromium,
  names: readonly string[],
  addressOf: Address,
  folder: string,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const view of VIEWS) {
    await withView(browser, view, addressOf, async (send, open) => {
      for (const name of names) {
        const height = Math.min(3000, Number(await open(name, 'document.documentElement.scrollHeight')));
        const clip = { x: 0, y: 0, width: view.width, height, scale: 1 };
        const { data } = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
        writeFileSync(
          join(folder, `${name.replaceAll('/', '-')}-${view.name}.png`),
          Buffer.from(String(data), 'base64'),
        );
      }
    });
  }
}

/** A page of this size; `open` goes to a page of the site, lets it settle and evaluates an expression there. */
async function withView(
  browser: Chromium,
  { theme, width, height }: View,
  addressOf: Address,
  use: (send: Send, open: (name: string, expression: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const { targetId } = await browser.send('Target.createTarget', { url: addressOf('index.html') });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const send: Send = (method, params = {}) => browser.send(method, params, String(sessionId));
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result } = await send('Runtime.evaluate', { expression, returnByValue: true });
    return (result as { readonly value?: unknown }).value;
  };
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 500 });
  await use(send, async (name, expression) => {
    await evaluate(`localStorage.setItem('vitepress-theme-appearance', '${theme}')`);
    await send('Page.navigate', { url: addressOf(`${name}.html`) });
    await new Promise((done) => setTimeout(done, 2500));
    return evaluate(expression);
  });
  await browser.send('Target.closeTarget', { targetId });
}
