/**
 * The price of an option by simulation: a million paths of a share, what each pays, their mean and how far off it may be. The formula of Black and Scholes knows the price.
 *
 *     npx tsx examples/option.ts [paths] [steps]
 */
import { cuda } from '../src/index.ts';
import { counting, map, reduce } from '../src/parallel/index.ts';

const [paths = 1_000_000, steps = 64] = process.argv.slice(2).map(Number);
const [price, strike, rate, volatility, years] = [100, 105, 0.03, 0.2, 1];

const drift = ((rate - (volatility * volatility) / 2) * years) / steps;
const shake = volatility * Math.sqrt(years / steps);

/** What the option pays at the end of a path, in the money of today. Path i has random numbers of its own: its number is part of their counter. */
const payoff = (i: number) => {
  let logarithm = 0;
  for (let k = 0; k < steps; k += 2) {
    const [a, b] = cuda.random.philox([2026, 0], [i, k, 0, 0]);
    const size = Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32));
    logarithm +=
      2 * drift + shake * size * (Math.cos((2 * Math.PI * b) / 2 ** 32) + Math.sin((2 * Math.PI * b) / 2 ** 32));
  }
  return Math.exp(-rate * years) * Math.max(0, price * Math.exp(logarithm) - strike);
};

const started = performance.now();
const payoffs = map(counting(paths), payoff); // lazy: a payoff is computed where it is needed
const mean = reduce(payoffs, 'sum') / paths;
const squares =
  reduce(
    map(payoffs, (x) => x * x),
    'sum',
  ) / paths;
const milliseconds = performance.now() - started;
const error = Math.sqrt((squares - mean * mean) / (paths - 1));

const d = (Math.log(price / strike) + (rate + (volatility * volatility) / 2) * years) / (volatility * Math.sqrt(years));
const exact = price * normal(d) - strike * Math.exp(-rate * years) * normal(d - volatility * Math.sqrt(years));
console.log(
  `${mean.toFixed(3)} ± ${(1.96 * error).toFixed(3)} by ${paths} paths of ${steps} steps, ${milliseconds.toFixed(0)} ms`,
);
console.log(
  `${exact.toFixed(3)} by Black and Scholes, ${(Math.abs(mean - exact) / error).toFixed(1)} standard errors away`,
);
const bars = 21;
for (let k = 0; k < bars; k += 4) console.log(bar(mean + ((k - 10) / 5) * error));

/** A line of the error bar: how likely the price is there. */
function bar(x: number) {
  return `${x.toFixed(3)} ${'█'.repeat(Math.round(40 * Math.exp(-0.5 * ((x - mean) / error) ** 2)))}`;
}

/** The normal distribution, by its integral. */
function normal(x: number) {
  const [n, end] = [2000, Math.min(8, Math.abs(x))];
  let sum = 0;
  for (let k = 0; k < n; k++) sum += Math.exp(-0.5 * (((k + 0.5) * end) / n) ** 2);
  return 0.5 + (Math.sign(x) * sum * (end / n)) / Math.sqrt(2 * Math.PI);
}
