/** The overview page. Shows the server's health, failures and warnings, and live charts of the server's metrics. */
import { useConsoleContext } from '../core/kinds.ts'
import { quantiles, rates, type Scrape, sumOf, useMetrics } from '../core/metrics.ts'
import { useAsked, useNow } from '../core/store.ts'
import { displayText, shortBytes, shortNumber, shortSeconds } from '../core/text.ts'
import { Chart } from '../parts/chart.tsx'
import { Card, Chip, PageHead } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
import { Attention } from './attention.tsx'

const requests = 'apiserver_request_total'
const durations = 'apiserver_request_duration_seconds'
const storeSize = 'etcd_db_total_size_in_bytes'
const loopDelay = 'nodejs_eventloop_lag_p99_seconds'

const metricNames: ReadonlySet<string> = new Set([
  ...[requests, `${durations}_bucket`, 'apiserver_registered_watchers', 'apiserver_storage_objects', loopDelay],
  ...[storeSize, 'process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'apiserver_current_inflight_requests'],
  ...['process_cpu_seconds_total', 'process_start_time_seconds', 'apiserver_watch_events_total', 'workqueue_depth'],
])

const writes = new Set(['POST', 'PUT', 'PATCH', 'DELETE', 'APPLY', 'CREATE', 'UPDATE', 'DELETECOLLECTION'])

export function HealthPage() {
  const { scrapes, error } = useMetrics(metricNames)
  return (
    <>
      <PageHead title="Overview">
        <ServerVersion />
        <Uptime scrape={scrapes.at(-1)} />
      </PageHead>
      <Checks />
      <Attention />
      {error !== undefined && scrapes.length === 0 && <Failure error={error} />}
      {scrapes.length > 0 && <Charts scrapes={scrapes} />}
    </>
  )
}

function Charts({ scrapes }: { readonly scrapes: readonly Scrape[] }) {
  return (
    <div class="cards charts">
      <Requests scrapes={scrapes} />
      <Single title="Watchers" name="apiserver_registered_watchers" scrapes={scrapes} />
      <Card title="Watch events per second">
        <Chart
          title="Watch events per second"
          unit={shortNumber}
          lines={[{ name: 'events', colour: 'c1', values: rates(scrapes, 'apiserver_watch_events_total') }]}
        />
      </Card>
      <Single title="Objects stored" name="apiserver_storage_objects" scrapes={scrapes} />
      {scrapes.at(-1)?.samples.has(storeSize) && (
        <Single title="Store size" name={storeSize} scrapes={scrapes} unit={shortBytes} />
      )}
      <Single title="Event loop delay (99 %)" name={loopDelay} scrapes={scrapes} unit={shortSeconds} />
      <Single title="Memory" name="process_resident_memory_bytes" scrapes={scrapes} unit={shortBytes} />
      <Card title="CPU, share of one core">
        <Chart
          title="Processor"
          unit={(part) => `${Math.round(part * 100)} %`}
          lines={[{ name: 'used', colour: 'c1', values: rates(scrapes, 'process_cpu_seconds_total') }]}
        />
      </Card>
    </div>
  )
}

function Requests({ scrapes }: { readonly scrapes: readonly Scrape[] }) {
  return (
    <>
      <Card title="Requests per second">
        <Chart
          title="Requests per second"
          unit={shortNumber}
          lines={[
            {
              name: 'reads',
              colour: 'c1',
              values: rates(scrapes, requests, ({ verb = '' }) => !writes.has(verb.toUpperCase())),
            },
            {
              name: 'writes',
              colour: 'c2',
              values: rates(scrapes, requests, ({ verb = '' }) => writes.has(verb.toUpperCase())),
            },
            {
              name: 'errors',
              colour: 'c3',
              values: rates(scrapes, requests, ({ code = '' }) => code.startsWith('5')),
            },
          ]}
        />
      </Card>
      <Card title="Request latency">
        <Chart
          title="Latency"
          unit={shortSeconds}
          lines={[
            { name: 'half', colour: 'c1', values: quantiles(scrapes, durations, 0.5) },
            { name: '99 %', colour: 'c2', values: quantiles(scrapes, durations, 0.99) },
          ]}
        />
      </Card>
    </>
  )
}

interface SingleProps {
  readonly title: string
  readonly name: string
  readonly scrapes: readonly Scrape[]
  readonly unit?: (value: number) => string
}

function Single({ title, name, scrapes, unit = shortNumber }: SingleProps) {
  const values = scrapes.filter(({ samples }) => samples.has(name)).map((scrape) => sumOf(scrape, name))
  return (
    <Card title={title}>
      <Chart title={title} unit={unit} lines={[{ name: title, colour: 'c1', values }]} />
    </Card>
  )
}

/** Shows the Kubernetes version with which the server is compatible. */
function ServerVersion() {
  const { client } = useConsoleContext()
  const result = useAsked((signal) => client.read<{ major: string; minor: string }>('/version', { signal }), [])
  if (result.state !== 'done') return null
  return <span class="sub">Kubernetes {displayText(`${result.value.major}.${result.value.minor}`, 20)}</span>
}

function Uptime({ scrape }: { readonly scrape: Scrape | undefined }) {
  const now = useNow()
  const started = scrape === undefined ? 0 : sumOf(scrape, 'process_start_time_seconds')
  if (started === 0) return null
  const minutes = Math.max(0, Math.floor((now / 1000 - started) / 60))
  const text =
    minutes < 120
      ? `${minutes} min`
      : minutes < 2880
        ? `${Math.floor(minutes / 60)} h`
        : `${Math.floor(minutes / 1440)} days`
  return <span class="sub">running for {text}</span>
}

/** Shows the lines of `/readyz?verbose`: `[+]name ok` and `[-]name failed: …`. */
function Checks() {
  const { client } = useConsoleContext()
  const now = useNow()
  const checksResult = useAsked(
    async (signal) => {
      const response = await fetchText(client, signal)
      return response.split('\n').flatMap((line) => {
        const [, sign, text] = /^\[([+-])\](.*)$/.exec(line) ?? []
        return sign === undefined ? [] : [{ isGood: sign === '+', text: text ?? '' }]
      })
    },
    [Math.floor(now / 10_000)],
  )
  if (checksResult.state !== 'done') return <p class="checks" />
  const bad = checksResult.value.filter(({ isGood }) => !isGood)
  return (
    <p class="checks">
      <Chip tone={bad.length === 0 ? 'good' : 'bad'}>{bad.length === 0 ? 'Ready' : 'Not ready'}</Chip>
      {checksResult.value.map(({ isGood, text }) => (
        <Chip key={text} tone={isGood ? 'plain' : 'bad'} title={displayText(text, 500)}>
          {displayText(text.replace(/ ok$/, ''), 80)}
        </Chip>
      ))}
    </p>
  )
}

async function fetchText(client: ReturnType<typeof useConsoleContext>['client'], signal: AbortSignal): Promise<string> {
  const { body } = await client.open({ method: 'GET', path: '/readyz?verbose', accept: 'text/plain', signal })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  return text
}
