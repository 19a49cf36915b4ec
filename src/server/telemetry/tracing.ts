/**
 * Traces requests. Disabled unless `--tracing-config-file` specifies a TracingConfiguration. A sampled request gets a
 * span, with one child span for each part that it waited for (`base/telemetry/timings.ts`). The caller's `traceparent`
 * header determines whether a request is sampled. Without this header, the sampling rate in the file applies.
 */

import { isObject, type Json, own } from '../../api/json/json.ts'
import { apiVersionOf, type Vendor } from '../../api/model/vendor.ts'
import { version } from '../../api/model/version.ts'
import type { Step } from '../../apiserver/http/pipeline.ts'
import type { Exchange } from '../../apiserver/http/request/exchange.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Log } from '../../base/telemetry/log.ts'
import {
  type Attribute,
  OtlpExporter,
  type Span,
  type TraceMetrics,
} from '../../base/telemetry/tracing/otlp-exporter.ts'
import { beginTrace, newSpanId, type TraceContext } from '../../base/telemetry/tracing/trace-context.ts'
import { isError, messageOf } from '../../base/text/errors.ts'
import type { AnswerHead } from '../../wire/http/client/answer-parser.ts'
import { callUrl } from '../../wire/http/client/url-call.ts'
import { UrlConnections } from '../../wire/http/client/url-connections.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'

/** The tracing hooks of the request pipeline. */
export interface Tracing {
  readonly step: Step
  /** Ends the span of a request. Must be called after every handled request. */
  readonly onHandled: (exchange: Exchange) => void
}

interface TracingParts {
  readonly vendor: Vendor
  readonly log: Log
  readonly metrics: TraceMetrics
  readonly opened: AsyncDisposableStack
}

const flagName = 'tracing-config-file'
const maxFileBytes = 64 * 1024
const exportTimeoutMs = 5000
/** Maximum number of bytes in a collector's response. The response, which reports rejected spans, is ignored. */
const maxExportAnswerBytes = 1024 * 1024

/** Opens tracing. Returns undefined if it is disabled. */
export async function openTracing(file: string, parts: TracingParts): Promise<Tracing | undefined> {
  if (file === '') return undefined
  const { endpoint, ratePerMillion } = await readConfiguration(file, parts.vendor)
  const resource = [text('service.name', 'orch'), text('service.version', version)]
  let isReported = false
  const onError = (error: Error) => {
    // Log the cause, because the connection error itself contains the address.
    const { message } = isError(error.cause) ? error.cause : error
    if (!isReported) parts.log.warn('cannot export traces; counting dropped spans', { error: message })
    isReported = true
  }
  const connections = new UrlConnections()
  parts.opened.defer(() => connections.destroy())
  const send = (body: string) => postTo(endpoint, connections, body)
  const exporter = new OtlpExporter({ send, resource, onError }, parts.metrics)
  parts.opened.defer(() => exporter.close())
  return {
    step: (exchange) => {
      exchange.trace = beginTrace(exchange.sentTrace, ratePerMillion)
    },
    onHandled: (exchange) => {
      if (exchange.trace !== undefined) exporter.add(spansOf(exchange, exchange.trace))
    },
  }
}

async function postTo(url: URL, connections: UrlConnections, body: string): Promise<void> {
  const faultOf = ({ status }: AnswerHead) => (status === 200 ? undefined : `it responded with status ${status}`)
  await callUrl({ url, connections, body, timeoutMs: exportTimeoutMs, maxBytes: maxExportAnswerBytes, faultOf })
}

async function readConfiguration(file: string, vendor: Vendor) {
  const { parseYaml } = await import('../../api/codec/yaml.ts')
  const content = readContent(file, (bytes) => parseYaml(bytes, maxFileBytes).value)
  const expectedApiVersion = apiVersionOf(vendor, 'apiserver.config', 'v1alpha1')
  if (
    !isObject(content) ||
    own(content, 'kind') !== 'TracingConfiguration' ||
    own(content, 'apiVersion') !== expectedApiVersion
  )
    throw fault(file, `the file must be of kind TracingConfiguration in ${expectedApiVersion}`)
  const unknown = Object.keys(content).find((key) => !members.includes(key))
  if (unknown !== undefined)
    throw fault(file, `${JSON.stringify(unknown)} is unknown; known fields are ${members.join(', ')}`)
  const rate = own(content, 'samplingRatePerMillion') ?? 0
  if (typeof rate !== 'number' || !Number.isInteger(rate) || rate < 0 || rate > 1e6)
    throw fault(file, 'samplingRatePerMillion must be a whole number from 0 to 1000000')
  return { endpoint: readEndpoint(file, own(content, 'endpoint')), ratePerMillion: rate }
}

const members = ['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion']

function readContent(file: string, parse: (bytes: Buffer) => Json): Json {
  const content = readFlagFile(flagName, file)
  try {
    return parse(Buffer.from(content))
  } catch (error) {
    throw fault(file, messageOf(error))
  }
}

/** Parses an endpoint: a host and port as in Kubernetes, or a URL. The path defaults to the OTLP path. */
function readEndpoint(file: string, value: Json | undefined): URL {
  const endpointText = value ?? '127.0.0.1:4318'
  const address =
    typeof endpointText === 'string' && !endpointText.includes('://') ? `http://${endpointText}` : endpointText
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw fault(file, 'endpoint must be HOST:PORT or the URL of a collector that supports OTLP over HTTP')
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url
}

function fault(file: string, why: string): UsageError {
  return new UsageError(`--${flagName}: ${file}: ${why}`)
}

function text(key: string, value: string): Attribute {
  return { key, value: { stringValue: value } }
}

/**
 * Returns the spans of a request. They contain neither the query nor the user, so that the collector receives no
 * confidential data.
 */
function spansOf(exchange: Exchange, trace: TraceContext): Span[] {
  const { transport, info, status, arrived, timings } = exchange
  const now = performance.now()
  const nanos = (ms: number) => String(BigInt(Math.round((performance.timeOrigin + ms) * 1000)) * 1000n)
  const { traceId, spanId } = trace
  const whole: Span = {
    traceId,
    spanId,
    parentSpanId: trace.parentId,
    kind: 2,
    ...(trace.state === '' ? {} : { traceState: trace.state }),
    name: info?.resource ? `${info.verb} ${info.plural}` : transport.method,
    startTimeUnixNano: nanos(arrived),
    endTimeUnixNano: nanos(now),
    attributes: [
      text('http.request.method', transport.method),
      text('url.path', transport.target.split('?', 1)[0]!.slice(0, 500)),
      { key: 'http.response.status_code', value: { intValue: String(status) } },
    ],
    status: status >= 500 ? { code: 2 } : {},
  }
  const parts = timings.parts.map(
    ({ name, begin, end = now }): Span => ({
      traceId,
      spanId: newSpanId(),
      parentSpanId: spanId,
      kind: 1,
      name,
      attributes: [],
      status: {},
      startTimeUnixNano: nanos(begin),
      endTimeUnixNano: nanos(end),
    }),
  )
  return [whole, ...parts]
}
