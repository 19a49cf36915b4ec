/**
 * Plots how costs grow with the number of objects, as an SVG image. Each line shows the cost of one kind of work. Both
 * scales are logarithmic, and a constant cost appears as a horizontal line.
 */
import { short } from './table.ts'

export interface Series {
  readonly name: string
  /** Points of the line, each with a number of objects and a cost in microseconds. */
  readonly points: readonly (readonly [number, number])[]
}

const width = 720
const height = 400
const margin = { left: 80, right: 190, top: 20, bottom: 50 }
const colors = ['#1f6feb', '#d1242f', '#1a7f37', '#8250df']

export function plot(series: readonly Series[]): string {
  const all = series.flatMap(({ points }) => points)
  const x = scale(
    all.map(([size]) => size),
    margin.left,
    width - margin.right,
  )
  const y = scale(decades(all.map(([, cost]) => cost)), height - margin.bottom, margin.top)
  const sizes = [...new Set(all.map(([size]) => size))]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="13">`,
    '<title>What a write, a list and an event cost, by the number of objects</title>',
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...sizes.map((size) => label(x(size), height - margin.bottom + 20, 'middle', short(size))),
    ...decades(all.map(([, cost]) => cost)).flatMap((cost) => [
      `<path d="M${margin.left} ${y(cost)}H${width - margin.right}" stroke="#ddd"/>`,
      label(margin.left - 8, y(cost) + 4, 'end', `${short(cost)} µs`),
    ]),
    label((margin.left + width - margin.right) / 2, height - 10, 'middle', 'objects in the store'),
    ...series.flatMap((one, i) => line(one, colors[i % colors.length]!, x, y)),
    '</svg>',
    '',
  ].join('\n')
}

type Scale = (value: number) => number

function scale(values: readonly number[], from: number, to: number): Scale {
  const low = Math.log10(Math.min(...values))
  const high = Math.log10(Math.max(...values))
  return (value) => Math.round(from + ((Math.log10(value) - low) / (high - low || 1)) * (to - from))
}

/** Returns the powers of ten that enclose all values. */
function decades(values: readonly number[]): number[] {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.ceil(Math.log10(Math.max(...values)))
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
}

function line({ name, points }: Series, color: string, x: Scale, y: Scale): string[] {
  const path = points.map(([size, cost], i) => `${i === 0 ? 'M' : 'L'}${x(size)} ${y(cost)}`).join('')
  const [size, cost] = points.at(-1)!
  return [
    `<path d="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
    ...points.map(([at, value]) => `<circle cx="${x(at)}" cy="${y(value)}" r="3" fill="${color}"/>`),
    `<g fill="${color}">${label(x(size) + 10, y(cost) + 4, 'start', name)}</g>`,
  ]
}

function label(x: number, y: number, anchor: string, text: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`
}
