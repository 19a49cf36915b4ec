/**
 * The paths of a node's port, which are the same as in a kubelet:
 *
 *   /containerLogs/{namespace}/{pod}/{container}
 *   /exec, /attach, /run        followed by /{namespace}/{pod}[/{uid}]/{container}
 *   /portForward                followed by /{namespace}/{pod}[/{uid}]
 *   /pods, /healthz, /stats/summary, /metrics/resource
 */
import type { Duplex } from 'node:stream'
import type { ApiObject } from '../../api/model/object.ts'
import { forwardFrom } from './forward-ports.ts'
import type { Answer, PortCall, Refusal } from './port-call.ts'
import { type LogOptions, readLog } from './read-log.ts'
import { resourceMetricsOf, summaryOf } from './resource-usage.ts'
import { runAndCollect, runCommand } from './run-command.ts'
import type { ContainerRuntime, PodRuntime } from './runtime.ts'

const json = { 'content-type': 'application/json' }
const metricsText = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }

/** Handles a request that does not upgrade the connection. */
export async function answerRequest(call: PortCall): Promise<Answer> {
  const { node, request, url } = call
  const [action = '', ...rest] = segmentsOf(url)
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  if (action === 'healthz' && isReading) return { status: 200, text: 'ok' }
  if (action === 'pods' && rest.length === 0 && isReading)
    return { status: 200, headers: json, parts: podList(node.pods()) }
  const path = [action, ...rest].join('/')
  if (path === 'stats/summary' && isReading)
    return { status: 200, headers: json, text: JSON.stringify(summaryOf(node, call.now())) }
  const metrics = action === 'metrics' && isReading ? await node.metrics?.([action, ...rest]) : undefined
  if (metrics !== undefined) return { status: 200, headers: metricsText, parts: metrics }
  if (path === 'metrics/resource' && isReading)
    return { status: 200, headers: metricsText, text: resourceMetricsOf(node, call.now()) }
  if (action === 'containerLogs' && isReading) return answerLog(call, rest)
  if (action === 'run' && request.method === 'POST') return await answerRun(call, rest)
  if (['exec', 'attach', 'portForward'].includes(action))
    return { status: 400, text: 'unable to upgrade: missing upgrade headers in request' }
  return { status: 404, text: '404 page not found' }
}

/** Streams a PodList one pod at a time, because all pods of a node may take several hundred megabytes. */
async function* podList(pods: readonly ApiObject[]): AsyncGenerator<Buffer> {
  let before = '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":['
  for (const pod of pods) {
    yield Buffer.from(before + JSON.stringify(pod))
    before = ','
  }
  yield Buffer.from(pods.length === 0 ? `${before}]}` : ']}')
}

/** Handles an upgrade request. Returns an error response, or undefined if the connection was upgraded. */
export async function answerUpgrade(call: PortCall, socket: Duplex): Promise<Refusal | undefined> {
  const [action = '', ...rest] = segmentsOf(call.url)
  if (action === 'exec' || action === 'attach') {
    const foundContainer = findContainer(call, rest)
    return 'status' in foundContainer
      ? foundContainer
      : await runCommand(call, socket, { action, container: foundContainer.container })
  }
  if (action !== 'portForward') return { status: 404, text: '404 page not found' }
  const pod = findPod(call, { ...podName(rest.slice(0, 2)), uid: rest[2] })
  return 'status' in pod ? pod : await forwardFrom(call, socket, pod)
}

/** Splits a path into decoded segments. A path with an invalid encoding matches no route. */
function segmentsOf({ pathname }: URL): string[] {
  try {
    return pathname.split('/').slice(1).map(decodeURIComponent)
  } catch {
    return []
  }
}

function podName([namespace = '', name = '']: readonly string[]): { namespace: string; name: string } {
  return { namespace, name }
}

interface WantedPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string | undefined
}

function findPod({ node }: PortCall, { namespace, name, uid }: WantedPod): PodRuntime | Refusal {
  const pod = node.pod({ namespace, name })
  if (pod !== undefined && (uid === undefined || uid === pod.uid)) return pod
  return { status: 404, text: `pod "${name}" does not exist` }
}

/**
 * Finds the container that a path names. The segments are `namespace/pod/container`, or `namespace/pod/uid/container`.
 */
function findContainer(
  call: PortCall,
  segments: readonly string[],
): { readonly container: ContainerRuntime; readonly name: string } | Refusal {
  const name = segments.length === 4 ? segments[3]! : (segments[2] ?? '')
  if (segments.length < 3 || segments.length > 4) return { status: 404, text: '404 page not found' }
  const pod = findPod(call, { ...podName(segments), uid: segments.length === 4 ? segments[2] : undefined })
  if ('status' in pod) return pod
  const container = pod.container(name)
  return container === undefined
    ? { status: 404, text: `container "${name}" not found in pod "${segments[1]}"` }
    : { container, name }
}

function answerLog(call: PortCall, segments: readonly string[]): Answer {
  const foundContainer = findContainer(call, segments)
  if ('status' in foundContainer) return foundContainer
  const options = logOptions(call)
  if (options === undefined) return { status: 422, text: 'the log options are invalid' }
  const isPrevious = isTrue(call.url.searchParams, 'previous')
  const log = foundContainer.container.log(isPrevious ? 'previous' : 'last', options.follow ? call.signal : undefined)
  if (log !== undefined) return { status: 200, parts: readLog(log, options, call.signal) }
  const containerLabel = `container "${foundContainer.name}" in pod "${segments[1]}"`
  const text = isPrevious
    ? `previous terminated ${containerLabel} not found`
    : `${containerLabel} is waiting to start: ContainerCreating`
  return { status: 400, text }
}

/** Parses the query of a log request. Returns undefined if an option is invalid. */
function logOptions({ url: { searchParams: query }, now }: PortCall): LogOptions | undefined {
  const [tailLines, sinceSeconds, limitBytes] = ['tailLines', 'sinceSeconds', 'limitBytes'].map((name) =>
    numberIn(query, name),
  )
  const sinceTime = query.has('sinceTime') ? Date.parse(query.get('sinceTime')!) : undefined
  const since = sinceSeconds === undefined ? sinceTime : now() - 1000 * sinceSeconds
  const numbers = [tailLines, since, limitBytes]
  if (numbers.some((each) => Number.isNaN(each))) return undefined
  const follow = isTrue(query, 'follow')
  const timestamps = isTrue(query, 'timestamps')
  return { follow, timestamps, tailLines, since, limitBytes }
}

/** Parses a number in a query. Returns NaN if the value is not a number. */
function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}

function isTrue(query: URLSearchParams, name: string): boolean {
  return ['true', '1'].includes(query.get(name) ?? '')
}

async function answerRun(call: PortCall, segments: readonly string[]): Promise<Answer> {
  const foundContainer = findContainer(call, segments)
  return 'status' in foundContainer ? foundContainer : await runAndCollect(call, foundContainer.container)
}
