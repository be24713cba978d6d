// Exact decimal arithmetic of any precision. Costs are sums of very small prices, for which floating point would add up rounding errors.

/** The value is units / 10^scale. */
export interface Decimal {
  units: bigint;
  scale: number;
}

const form = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Returns undefined when the text is not a decimal. */
export const parseDecimal = (text: string): Decimal | undefined => {
  const match = form.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const scale = fraction.length - Number(exponent);
  const units = BigInt(sign + whole + fraction);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
};

const align = (a: Decimal, b: Decimal): [bigint, bigint, number] => {
  const scale = Math.max(a.scale, b.scale);
  return [a.units * 10n ** BigInt(scale - a.scale), b.units * 10n ** BigInt(scale - b.scale), scale];
};

export const addDecimals = (a: Decimal, b: Decimal): Decimal => {
  const [left, right, scale] = align(a, b);
  return { units: left + right, scale };
};

export const timesDecimal = (a: Decimal, b: Decimal): Decimal => ({
  units: a.units * b.units,
  scale: a.scale + b.scale,
});

/** Negative, zero or positive. */
export const compareDecimals = (a: Decimal, b: Decimal): number => {
  const [left, right] = align(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
};

/** Writes the decimal without trailing zeros. */
export const decimalText = ({ units, scale }: Decimal): string => {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
};
