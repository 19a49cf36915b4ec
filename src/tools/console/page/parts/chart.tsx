/** A line chart of the last few minutes as an SVG without axes. The latest value is shown next to the chart. */

interface ChartProps {
  readonly title: string
  readonly lines: readonly ChartLine[]
  readonly unit: (value: number) => string
}

export interface ChartLine {
  readonly name: string
  readonly values: readonly number[]
  readonly colour: string
}

const width = 300
const height = 64

export function Chart({ title, lines, unit }: ChartProps) {
  const top = Math.max(...lines.flatMap(({ values }) => values), 0) || 1
  const chartLabel = lines.map(({ name, values }) => `${name} ${unit(values.at(-1) ?? 0)}`).join(', ')
  return (
    <figure class="chart">
      <figcaption>
        {lines.map(({ name, values, colour }) => (
          <span class={`chart-value ${colour}`} key={name}>
            {lines.length > 1 && <i aria-hidden="true" />}
            {lines.length > 1 && <span>{name}</span>}
            <b>{unit(values.at(-1) ?? 0)}</b>
          </span>
        ))}
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${chartLabel}`}
      >
        <line x1="0" y1={height - 0.5} x2={width} y2={height - 0.5} class="chart-ground" />
        {lines.map(({ name, values, colour }) => (
          <g key={name} class={colour}>
            {lines.length === 1 && (
              <path
                d={`${lineOf(values, top)} L${width} ${height} L${startOf(values)} ${height} Z`}
                class="chart-area"
              />
            )}
            <path d={lineOf(values, top)} class="chart-line" />
          </g>
        ))}
      </svg>
    </figure>
  )
}

/**
 * Returns the number of intervals on the time axis. The axis covers at least one minute, and grows with the number of
 * samples.
 */
function placesFor(values: readonly number[]): number {
  return Math.max(29, values.length - 1)
}

function startOf(values: readonly number[]): number {
  return width - ((values.length - 1) * width) / placesFor(values)
}

function lineOf(values: readonly number[], top: number): string {
  if (values.length === 0) return `M${width} ${height}`
  const start = startOf(values)
  return values
    .map((value, i) => {
      const x = start + (i * width) / placesFor(values)
      const y = height - 2 - (value / top) * (height - 8)
      return `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join(' ')
}
