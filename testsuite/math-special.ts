/**
 * Chapter: special functions. Bessel functions, the inverse of the error function and its kin, the normal distribution, powers and exponents. What is expected are true
 * values of 40 digits, rounded to f64.
 */
import { cuda, type f64, type i32, type Vec } from '../src/index.ts';
import { ConformanceFailure, closeElements, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { type Accuracy, accurate, eachType } from './support.ts';
import { launch, read } from './waiting.ts';

type Real = (x: number) => number;

/** Arguments that are the same in f32 and f64, and the true results. */
type Table = readonly (readonly [x: number, y: number])[];

const J0: Table = [
  [-20, 0.16702466434058316],
  [-5.5, -0.006843869417819197],
  [-1, 0.7651976865579666],
  [9.094947017729282e-13, 1],
  [0.5, 0.9384698072408129],
  [1, 0.7651976865579666],
  [2, 0.22389077914123567],
  [2.40625, -0.000739276482217002],
  [2.4048256874084473, -6.734000851573297e-8],
  [3.75, -0.4014060549361743],
  [5.520078182220459, 2.4476658908592183e-8],
  [7.9375, 0.1860275559596514],
  [8, 0.1716508071375539],
  [8.65625, -0.0006845258690863365],
  [12.5, 0.1468840547004211],
  [33.25, 0.06945446912869488],
  [100, 0.019985850304223122],
  [10000, -0.0070961603533888015],
];
const J1: Table = [
  [-20, -0.06683312417585005],
  [-5.5, 0.34143821542904335],
  [-1, -0.4400505857449335],
  [9.094947017729282e-13, 4.547473508864641e-13],
  [0.5, 0.2422684576748739],
  [1, 0.4400505857449335],
  [1.84375, 0.5818638736324648],
  [2, 0.5767248077568734],
  [3.8317060470581055, -3.0952298147342295e-8],
  [3.75, 0.03322934912967973],
  [5.3125, -0.3460662223777438],
  [7.015586853027344, 5.498472400096225e-8],
  [7.9375, 0.22525994784844658],
  [8, 0.23463634685391463],
  [10.171875, 0.00039784457977548875],
  [33.25, 0.12072547111649003],
  [100, -0.07714535201411216],
  [10000, 0.0036474507555295803],
];
const Y0: Table = [
  [7.888609052210118e-31, -44.20092432563901],
  [0.0009765625, -4.486515076710974],
  [0.25, -0.9315730249300587],
  [0.5, -0.44451873350670656],
  [0.8935769200325012, -4.06702814435773e-8],
  [1, 0.08825696421567696],
  [1.75, 0.46549262864690605],
  [2, 0.5103756726497451],
  [3.125, 0.3342911880758159],
  [3.9576783180236816, 4.077402122773018e-8],
  [5.5, -0.339480592881911],
  [7.086050987243652, -2.1924567781062488e-8],
  [7.9375, 0.21317280841495947],
  [8, 0.22352148938756622],
  [10.25, -0.0068952738387493715],
  [33.25, 0.11966776733586657],
  [100, -0.07724431336508315],
  [10000, 0.0036478055589866058],
];
const Y1: Table = [
  [7.888609052210118e-31, -8.070114365589233e29],
  [0.0009765625, -651.9009930106312],
  [0.25, -2.7041052293152825],
  [0.5, -1.471472392670243],
  [1, -0.7812128213002887],
  [1.5, -0.4123086269739113],
  [1.75, -0.2539729859462457],
  [2.197141408920288, 4.31676052829095e-8],
  [3.125, 0.3552661482132802],
  [3.6875, 0.4167260606984455],
  [5.429680824279785, 7.368374188089669e-8],
  [7.0625, -0.3010149334208679],
  [7.9375, -0.17301076680709104],
  [8, -0.1580604617312475],
  [8.59375, -0.0006124575958471247],
  [33.25, -0.06766320136342616],
  [100, -0.020372312002759792],
  [10000, 0.007096342752536495],
];
const CYLBESSELI0: Table = [
  [-30, 781672297823.9775],
  [-8, 427.5641157218048],
  [-2, 2.2795853023360673],
  [9.094947017729282e-13, 1],
  [0.5, 1.0634833707413236],
  [1, 1.2660658777520084],
  [3.75, 9.118945860844567],
  [7.9375, 403.2951163718128],
  [8, 427.5641157218048],
  [12.5, 30596.335155785153],
  [50, 2.9325537838493362e20],
  [80, 2.4751784043341704e33],
  [88, 7.034019697322304e36],
];
const CYLBESSELI1: Table = [
  [-30, -768532038938.957],
  [-8, -399.8731367825601],
  [-2, -1.590636854637329],
  [9.094947017729282e-13, 4.547473508864641e-13],
  [0.5, 0.2578943053908963],
  [1, 0.565159103992485],
  [3.75, 7.780015229824416],
  [7.9375, 376.9616631581294],
  [8, 399.8731367825601],
  [12.5, 29345.74964207113],
  [50, 2.903078590103557e20],
  [80, 2.459659579567541e33],
  [88, 6.993938822790253e36],
];
const ERFINV: Table = [
  [-0.9990234375, -2.331467773621948],
  [-0.75, -0.8134198475976185],
  [-0.5, -0.4769362762044699],
  [-0.125, -0.11123545184094996],
  [8.673617379884035e-19, 7.686793263128236e-19],
  [9.5367431640625e-7, 8.451718573121729e-7],
  [0.25, 0.2253120550121781],
  [0.4375, 0.4095082791341315],
  [0.5625, 0.5490130923685015],
  [0.875, 1.0847870400692832],
  [0.96875, 1.523019401996956],
  [0.9999847412109375, 3.058179581850916],
  [0.9999999403953552, 3.832506856900711],
];
const ERFCINV: Table = [
  [1.1754943508222875e-38, 9.194549449134673],
  [7.888609052210118e-31, 8.163048919217452],
  [8.673617379884035e-19, 6.258604289958784],
  [9.313225746154785e-10, 4.328028275800946],
  [0.000244140625, 2.5939005131344874],
  [0.03125, 1.523019401996956],
  [0.25, 0.8134198475976185],
  [0.5, 0.4769362762044699],
  [0.75, 0.2253120550121781],
  [0.9375, 0.05544594877278202],
  [0.9999990463256836, 8.451718573121729e-7],
  [1.125, -0.11123545184094996],
  [1.5, -0.4769362762044699],
  [1.875, -1.0847870400692832],
  [1.9999990463256836, -3.465505025803331],
];
const ERFCX: Table = [
  [-9, 3.0121946291700612e35],
  [-5, 144009798674.66104],
  [-2.5, 1035.814842972623],
  [-1, 5.008980080762283],
  [-0.25, 1.358642370104722],
  [-9.313225746154785e-10, 1.000000001050885],
  [9.313225746154785e-10, 0.999999998949115],
  [0.125, 0.8732218450821508],
  [0.5, 0.6156903441929259],
  [1, 0.427583576155807],
  [2.5, 0.2108063640611436],
  [4, 0.13699945762506138],
  [10, 0.05614099274382259],
  [28, 0.020136801964214277],
  [100, 0.005641613782989433],
  [10000000000, 5.641895835477563e-11],
  [1.2676506002282294e30, 4.450671055937487e-31],
];
const NORMCDF: Table = [
  [-13, 6.11716439954988e-39],
  [-10, 7.619853024160525e-24],
  [-7.5, 3.1908916729108963e-14],
  [-5, 2.866515718791939e-7],
  [-3, 0.0013498980316300946],
  [-1.5, 0.06680720126885807],
  [-1, 0.15865525393145705],
  [-0.75, 0.2266273523768682],
  [-0.25, 0.4012936743170763],
  [0.25, 0.5987063256829237],
  [1, 0.8413447460685429],
  [2, 0.9772498680518208],
  [3.5, 0.9997673709209645],
  [5, 0.9999997133484281],
];
const NORMCDFINV: Table = [
  [7.52316384526264e-37, -12.626696560491395],
  [8.673617379884035e-19, -8.773321169027552],
  [9.313225746154785e-10, -6.009353565530744],
  [0.000244140625, -3.4871041041144313],
  [0.03125, -1.8627318674216515],
  [0.125, -1.150349380376008],
  [0.25, -0.6744897501960817],
  [0.375, -0.31863936396437514],
  [0.46875, -0.0784124127331122],
  [0.5625, 0.1573106846101707],
  [0.75, 0.6744897501960817],
  [0.875, 1.150349380376008],
  [0.96875, 1.8627318674216515],
  [0.9999990463256836, 4.7630010342678135],
];
const RCBRT: Table = [
  [-1000, -0.1],
  [-2, -0.7937005259840998],
  [-1, -1],
  [1.1754943508222875e-38, 4398046511104],
  [0.125, 2],
  [0.5, 1.2599210498948732],
  [3, 0.6933612743506347],
  [27, 0.3333333333333333],
  [1.2676506002282294e30, 9.239890216664642e-11],
];
const EXP10: Table = [
  [-37.5, 3.162277660168379e-38],
  [-30, 1e-30],
  [-10.125, 7.498942093324558e-11],
  [-3, 0.001],
  [-1, 0.1],
  [-0.5, 0.31622776601683794],
  [0.0078125, 1.018151721718182],
  [0.5, 3.1622776601683795],
  [1, 10],
  [2.75, 562.341325190349],
  [10, 10000000000],
  [22, 1e22],
  [30.375, 2.3713737056616554e30],
  [38, 1e38],
];
const ORDERS: readonly (readonly [n: number, x: number, j: number, y: number])[] = [
  [2, 0.0009765625, 1.1920928007687839e-7, -1335088.7471706958],
  [2, 0.5, 0.03060402345868264, -5.441370837174266],
  [2, 2, 0.35283402861563773, -0.6174081041906827],
  [2, -2.5, 0.44605905843961724, Number.NaN],
  [2, 5.125, 0.003611742848282373, 0.3653632966978846],
  [2, 7.5, -0.23027341052579026, -0.18641422227783963],
  [2, 11.625, -0.0011988628173542528, 0.23564515998676208],
  [2, 20, -0.16034135192299814, -0.07919175824563596],
  [2, 50.5, -0.0978194114079707, 0.05519934870663757],
  [3, 0.0009765625, 1.940255248134018e-11, -5468522856.510178],
  [3, 0.5, 0.002563729994587244, -42.059494304723884],
  [3, 2, 0.12894324947440206, -1.1277837768404277],
  [3, -2.5, -0.21660039103911352, Number.NaN],
  [3, 5.125, 0.341765944887703, 0.18003500837933795],
  [3, 7.5, -0.2580609131934603, 0.15970759193793513],
  [3, 11.625, 0.23213072097256957, 0.05214132015472073],
  [3, 20, -0.09890139456044968, 0.1496732627133941],
  [3, 50.5, 0.050314804230590336, 0.10048095322580583],
  [5, 0.0009765625, 2.3129645427267874e-19, -2.7523975108825488e17],
  [5, 0.5, 8.053627241357474e-6, -7946.301478807473],
  [5, 2, 0.007039629755871685, -9.935989128481975],
  [5, -2.5, -0.01950162513450322, Number.NaN],
  [5, 5.125, 0.27716788584467694, -0.4213471706600774],
  [5, 7.5, 0.28347390516255044, 0.1754180569454651],
  [5, 11.625, -0.14885621451903433, -0.19578588677813452],
  [5, 20, 0.15116976798239498, -0.10003576788953243],
  [5, 50.5, -0.03387165049590217, -0.10733418374149759],
  [-3, 0.0009765625, -1.940255248134018e-11, 5468522856.510178],
  [-3, 0.5, -0.002563729994587244, 42.059494304723884],
  [-3, 2, -0.12894324947440206, 1.1277837768404277],
  [-3, -2.5, 0.21660039103911352, Number.NaN],
  [-3, 5.125, -0.341765944887703, -0.18003500837933795],
  [-3, 7.5, 0.2580609131934603, -0.15970759193793513],
  [-3, 11.625, -0.23213072097256957, -0.05214132015472073],
  [-3, 20, 0.09890139456044968, -0.1496732627133941],
  [-3, 50.5, -0.050314804230590336, -0.10048095322580583],
  [12, 0.0009765625, 3.834454601977875e-49, -6.917756680028968e46],
  [12, 0.5, 1.2383825594799328e-16, -214384817165528.75],
  [12, 2, 1.9326951487239857e-9, -13920956.97754126],
  [12, -2.5, 2.6925131898897757e-8, Number.NaN],
  [12, 5.125, 0.00010002704295597186, -293.6488456204065],
  [12, 7.5, 0.0052250446858034625, -6.555706818653759],
  [12, 11.625, 0.16692973025566354, -0.39298674911219506],
  [12, 20, -0.11899062431039907, -0.15975239491660578],
  [12, 50.5, 0.07268025804414703, 0.08771950831526742],
  [40, 0.0009765625, 4.3167493985189784e-181, -1.8434582187462735e178],
  [40, 0.5, 1.0122626959003595e-72, -7.861960484882533e69],
  [40, 2, 1.1960774581136801e-48, -6.661541235527183e45],
  [40, -2.5, 8.87558684058155e-45, Number.NaN],
  [40, 5.125, 2.3185776256899828e-32, -3.46070933033784e29],
  [40, 7.5, 7.943888545605348e-26, -1.0198442776460203e23],
  [40, 11.625, 2.00170004672621e-18, -4154975194985157.5],
  [40, 20, 9.902389413744687e-10, -9281227.196058271],
  [40, 50.5, -0.11673804908226007, -0.0834260043473694],
];

const TYPES = ['float32', 'float64'] as const;
const EPSILON = { float32: 2 ** -23, float64: 2 ** -52 } as const;

/** As stated for GPUs, whose e^x and log x have larger errors than those of the CPU device. */
const few: Accuracy = { f32: 6, f64: 6 };

/** A function on a table and on its special arguments. */
function tabled(body: Real, table: Table, special: Table, ulps: Accuracy = few): () => Promise<void> {
  const all = [...table, ...special];
  return accurate(
    body,
    all.map(([x]) => x),
    ulps,
    (x) => all.find(([known]) => Object.is(known, x))?.[1] ?? Number.NaN,
  );
}

/** Below 8 as accurate as others; from there on the error is one of the amplitude. */
function oscillating(body: Real, table: Table, special: Table): () => Promise<void> {
  const near = tabled(
    body,
    table.filter(([x]) => Math.abs(x) < 8),
    special,
  );
  const far = table.filter(([x]) => Math.abs(x) >= 8);
  return async () => {
    await near();
    await eachType(TYPES, async (type) => {
      const y = await evaluate(
        body,
        far.map(([x]) => x),
        type,
      );
      const amplitudes = far.map(([x]) => Math.sqrt(2 / (Math.PI * Math.abs(x))));
      far.forEach(([x, expected], k) => {
        const error = Math.abs(Number(y[k]) - expected) / (amplitudes[k] ?? 1);
        if (!(error <= 4 * EPSILON[type]))
          throw new ConformanceFailure(`${type} f(${x}): ${y[k]} instead of ${expected}`);
      });
    });
  };
}

async function evaluate(
  body: Real,
  values: readonly number[],
  type: (typeof TYPES)[number],
): Promise<ArrayLike<number>> {
  const x = type === 'float32' ? Float32Array.from(values) : Float64Array.from(values);
  const kernel = cuda.jit((y: Vec<f64>, v: Vec<f64>) => {
    const k = cuda.grid(1);
    if (k < y.length) y[k] = body(v[k]);
  });
  const y = cuda.deviceArray(x.length, type);
  await launch(kernel, { threads: x.length, block: 32 }, y as never, cuda.toDevice(x) as never);
  return (await read(y)) as ArrayLike<number>;
}

const NOT: readonly [number, number] = [Number.NaN, Number.NaN];
const AT_ENDS: Table = [NOT, [Infinity, 0], [-Infinity, 0]];
const SECOND: Table = [NOT, [0, -Infinity], [-0, -Infinity], [Infinity, 0], [-Infinity, Number.NaN], [-1, Number.NaN]];

export const special: readonly ConformanceTest[] = chapter('special functions', {
  'j0 and j1': async () => {
    await oscillating((x) => cuda.j0(x), J0, [...AT_ENDS, [0, 1]])();
    await oscillating((x) => cuda.j1(x), J1, [...AT_ENDS, [0, 0], [-0, -0]])();
  },
  'y0 and y1': async () => {
    await oscillating((x) => cuda.y0(x), Y0, SECOND)();
    await oscillating((x) => cuda.y1(x), Y1, SECOND)();
  },
  'jn and yn': () =>
    eachType(TYPES, async (type) => {
      const Data = type === 'float32' ? Float32Array : Float64Array;
      const kernel = cuda.jit((n: Vec<i32>, x: Vec<f64>, j: Vec<f64>, y: Vec<f64>) => {
        const i = cuda.grid(1);
        if (i >= n.length) return;
        j[i] = cuda.jn(n[i], x[i]);
        y[i] = cuda.yn(n[i], x[i]);
      });
      const rows = [
        ...ORDERS,
        [2, 0, 0, -Infinity] as const,
        [3, Infinity, 0, 0] as const,
        [7, NaN, NaN, NaN] as const,
      ];
      const [n, x] = [Int32Array.from(rows.map(([n]) => n)), Data.from(rows.map(([, x]) => x))];
      const [j, y] = [cuda.deviceArray(n.length, type), cuda.deviceArray(n.length, type)];
      await launch(
        kernel,
        { threads: n.length, block: 32 },
        cuda.toDevice(n),
        cuda.toDevice(x) as never,
        j as never,
        y as never,
      );
      const found = [await read(j), await read(y)] as readonly ArrayLike<number>[];
      rows.forEach(([n, x, ...expected], k) => {
        expected.forEach((true_, of) => {
          const value = found[of]?.[k];
          const beyond = type === 'float32' && Math.abs(true_) > 3.4e38 ? Math.sign(true_) * Infinity : true_;
          if (Object.is(value, beyond)) return;
          const scale = Math.max(Math.abs(true_), Math.abs(x) > n ? Math.sqrt(2 / (Math.PI * Math.abs(x))) : 1e-37);
          if (!(Math.abs(Number(value) - true_) <= 3 * (Math.abs(n) + 1) * EPSILON[type] * scale))
            throw new ConformanceFailure(`${type} ${of === 0 ? 'jn' : 'yn'}(${n}, ${x}): ${value} instead of ${true_}`);
        });
      });
    }),
  'modified Bessel functions': async () => {
    await tabled((x) => cuda.cylBesselI0(x), CYLBESSELI0, [NOT, [0, 1], [Infinity, Infinity], [-Infinity, Infinity]], {
      f32: 8,
      f64: 6,
    })();
    await tabled(
      (x) => cuda.cylBesselI1(x),
      CYLBESSELI1,
      [NOT, [0, 0], [-0, -0], [Infinity, Infinity], [-Infinity, -Infinity]],
      { f32: 8, f64: 6 },
    )();
  },
  'erfinv and erfcinv': async () => {
    await tabled((x) => cuda.erfinv(x), ERFINV, [
      NOT,
      [0, 0],
      [-0, -0],
      [1, Infinity],
      [-1, -Infinity],
      [1.5, NaN],
      [-2, NaN],
      [Infinity, NaN],
    ])();
    await tabled((x) => cuda.erfcinv(x), ERFCINV, [
      NOT,
      [0, Infinity],
      [-0, Infinity],
      [1, 0],
      [2, -Infinity],
      [2.5, NaN],
      [-0.5, NaN],
    ])();
  },
  erfcx: tabled((x) => cuda.erfcx(x), ERFCX, [NOT, [0, 1], [Infinity, 0], [-Infinity, Infinity], [-30, Infinity]]),
  'the normal distribution': async () => {
    await tabled((x) => cuda.normcdf(x), NORMCDF, [NOT, [0, 0.5], [-0, 0.5], [Infinity, 1], [-Infinity, 0], [-50, 0]], {
      f32: 7,
      f64: 6,
    })();
    await tabled((x) => cuda.normcdfinv(x), NORMCDFINV, [
      NOT,
      [0, -Infinity],
      [0.5, 0],
      [1, Infinity],
      [1.5, NaN],
      [-0.5, NaN],
    ])();
  },
  'rcbrt and exp10': async () => {
    await tabled((x) => cuda.rcbrt(x), RCBRT, [NOT, [0, Infinity], [-0, -Infinity], [Infinity, 0], [-Infinity, -0]], {
      f32: 2,
      f64: 2,
    })();
    await tabled((x) => cuda.exp10(x), EXP10, [NOT, [0, 1], [-0, 1], [Infinity, Infinity], [-Infinity, 0]], {
      f32: 2,
      f64: 2,
    })();
  },
  'logb, ilogb, fdim and saturate': () =>
    eachType(TYPES, async (type) => {
      const Data = type === 'float32' ? Float32Array : Float64Array;
      const least = type === 'float32' ? -149 : -1074;
      const x = Data.of(
        1,
        -1,
        2,
        1.999,
        0.5,
        3e38,
        2 ** least,
        -3 * 2 ** least,
        0,
        -0,
        Infinity,
        -Infinity,
        Number.NaN,
      );
      const kernel = cuda.jit((x: Vec<f64>, y: Vec<f64>, z: Vec<i32>, d: Vec<f64>, s: Vec<f64>) => {
        const i = cuda.grid(1);
        if (i >= x.length) return;
        y[i] = cuda.logb(x[i]);
        z[i] = cuda.ilogb(x[i]);
        d[i] = cuda.fdim(x[i], 0.75);
        s[i] = cuda.saturate(x[i]);
      });
      const [y, z, d] = [cuda.deviceArray(13, type), cuda.deviceArray(13, 'int32'), cuda.deviceArray(13, type)];
      const s = cuda.deviceArray(13, type);
      const [to, from] = [{ threads: 13, block: 32 }, cuda.toDevice(x)];
      await launch(kernel, to, from as never, y as never, z, d as never, s as never);
      const whole = [0, 0, 1, 0, -1, 127, least, least + 1];
      sameElements(await read(y), [...whole, -Infinity, -Infinity, Infinity, Infinity, Number.NaN]);
      sameElements(await read(z), [...whole, -(2 ** 31), -(2 ** 31), 2 ** 31 - 1, 2 ** 31 - 1, -(2 ** 31)]);
      sameElements(
        await read(d),
        Array.from(x, (v) => (v <= 0.75 ? 0 : (Data.of(v - 0.75)[0] ?? 0))),
      );
      // Of the zeros either.
      const cut = Array.from(await read(s), (v) => v + 0);
      sameElements(
        cut,
        Array.from(x, (v) => (v > 0 ? Math.min(v, 1) : 0)),
      );
    }),
  'lengths of any number of parts': () =>
    eachType(TYPES, async (type) => {
      const Data = type === 'float32' ? Float32Array : Float64Array;
      const kernel = cuda.jit((x: Vec<f64>, y: Vec<f64>) => {
        y[0] = cuda.hypot(x[0], x[1]);
        y[1] = cuda.hypot(x[0], x[1], x[2], x[3], x[4]);
        y[2] = cuda.rhypot(x[0], x[1], x[2]);
        y[3] = cuda.norm4d(x[0], x[1], x[2], x[3]);
        y[4] = cuda.rnorm3d(x[5], x[5], x[5]) * x[5];
        y[5] = cuda.hypot(x[0]);
      });
      const y = cuda.deviceArray(6, type as 'float64');
      const x = Data.of(-3, 4, 12, 84, 204, type === 'float32' ? 1e30 : 1e200);
      await launch(kernel, { threads: 1, block: 1 }, cuda.toDevice(x) as never, y);
      const expected = [5, 221, 1 / 13, 85, 1 / Math.sqrt(3), 3];
      closeElements(await read(y), expected, type === 'float32' ? 3e-7 : 1e-15, type);
    }),
});
