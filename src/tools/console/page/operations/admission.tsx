/**
 * The admission page: the state of webhooks and their circuit breakers, the enabled admission plugins, and dry runs of
 * an object.
 */
import { useEffect, useState } from 'preact/hooks'
import { parseYamlText } from '../../../../api/codec/yaml-text.ts'
import { isObject } from '../../../../api/json/json.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { StatusError } from '../../../../client/library/client-browser.ts'
import { collectionPath, objectPath } from '../../../../client/requests/resource-type.ts'
import { type Admission, isExplanationRefused, readAdmission } from '../core/edit.ts'
import { type ConsoleContext, type Kinds, useConsoleContext } from '../core/kinds.ts'
import { displayText } from '../core/text.ts'
import { AdmissionTrace } from '../parts/admission-trace.tsx'
import { Age, Card, Chip, Notice, PageHead } from '../parts/display.tsx'
import { Editor } from '../parts/editor.tsx'
import { Failure } from '../parts/failure.tsx'
import { type PlainRow, PlainTable } from '../parts/plain-table.tsx'

interface Webhook extends ApiObject {
  spec?: { type?: string; configuration?: string; webhook?: string; url?: string; failurePolicy?: string }
  status?: {
    breaker?: string
    consecutiveFailures?: number
    calls?: number
    lastError?: string
    lastFailureTime?: string
    lastLatencyMilliseconds?: number
  }
}

interface Control extends ApiObject {
  spec?: { byDefault?: boolean }
  status?: { enabled?: boolean; steps?: string[] }
}

const everyMs = 3_000

export function AdmissionPage() {
  return (
    <>
      <PageHead title="Admission" />
      <Webhooks />
      <Controls />
      <TryObject />
    </>
  )
}

/** Polls the objects of a virtual type, which cannot be watched, every few seconds. */
function useListed<T>(plural: string): { readonly objects: readonly T[] | undefined; readonly failure: unknown } {
  const { client, kinds } = useConsoleContext()
  const type = kinds.builtIn(plural, 'ops')
  const [objects, setObjects] = useState<readonly T[] | undefined>()
  const [failure, setFailure] = useState<unknown>()
  useEffect(() => {
    if (type === undefined) return
    const aborting = new AbortController()
    const look = () =>
      client.list(type, { signal: aborting.signal }).then(
        ({ items }) => {
          setObjects(items as unknown as T[])
          setFailure(undefined)
        },
        (error: unknown) => aborting.signal.aborted || setFailure(error),
      )
    void look()
    const timer = setInterval(() => void look(), everyMs)
    return () => {
      clearInterval(timer)
      aborting.abort()
    }
  }, [type?.group])
  return { objects, failure }
}

function Webhooks() {
  const { objects: webhooks, failure } = useListed<Webhook>('admissionwebhooks')
  return (
    <Card title="Webhooks" wide>
      {failure !== undefined && <Failure error={failure} />}
      {webhooks?.length === 0 && <p class="hint">No webhook is configured.</p>}
      {webhooks !== undefined && webhooks.length > 0 && (
        <PlainTable
          label="Webhooks"
          columns={['Webhook', 'Type', 'Breaker', 'Calls', 'Latency', 'On failure', 'Last error']}
          rows={webhooks.map(webhookRow)}
        />
      )}
    </Card>
  )
}

/** Shows the active admission plugins in order. Flags can enable other plugins. */
function Controls() {
  const { objects: controls = [], failure } = useListed<Control>('admissioncontrols')
  const running = controls.filter(({ status }) => status?.enabled)
  const others = controls.filter(({ status }) => !status?.enabled)
  return (
    <Card
      title={running.length === 0 ? 'Admission plugins' : `${running.length} admission plugins run, in this order`}
      wide
    >
      {failure !== undefined && <Failure error={failure} />}
      <ol class="chip-list" aria-label="Enabled plugins">
        {running.map(({ metadata, spec = {}, status = {} }) => (
          <li key={metadata.name}>
            <Chip tone={spec.byDefault ? 'plain' : 'info'} title={(status.steps ?? []).join(', ')}>
              {displayText(metadata.name, 100)}{' '}
              <span class="sub">
                {(status.steps ?? []).map((step) => words[step] ?? displayText(step, 20)).join(', ')}
              </span>
            </Chip>
          </li>
        ))}
      </ol>
      {others.length > 0 && (
        <details>
          <summary>{others.length} are disabled</summary>
          <ul class="chip-list" aria-label="Disabled plugins">
            {others.map(({ metadata, spec = {} }) => (
              <li key={metadata.name}>
                <Chip tone={spec.byDefault ? 'warn' : 'plain'}>{displayText(metadata.name, 100)}</Chip>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  )
}

const words: { readonly [step: string]: string } = { mutate: 'changes', validate: 'judges' }

function webhookRow({ metadata, spec = {}, status = {} }: Webhook): PlainRow {
  const { breaker, calls = 0, lastLatencyMilliseconds, lastError, lastFailureTime } = status
  return {
    key: metadata.name ?? '',
    cells: [
      <>
        <strong>{displayText(spec.webhook, 100)}</strong>
        <div class="sub">{displayText(spec.url, 200)}</div>
      </>,
      displayText(spec.type, 20),
      <Chip tone={breaker === 'Open' ? 'bad' : 'good'}>{displayText(breaker, 20)}</Chip>,
      <span class="number">{calls}</span>,
      lastLatencyMilliseconds === undefined ? undefined : <span class="number">{lastLatencyMilliseconds} ms</span>,
      displayText(spec.failurePolicy, 20),
      lastError === undefined ? undefined : (
        <>
          {displayText(lastError, 500)}{' '}
          {lastFailureTime && (
            <span class="sub">
              <Age since={lastFailureTime} /> ago
            </span>
          )}
        </>
      ),
    ],
  }
}

const example = `apiVersion: v1
kind: ConfigMap
metadata:
  name: example
  namespace: default
data:
  hello: world
`

interface Tried {
  /** How admission treated the object. Undefined if the user may not see it. */
  readonly admission: Admission | undefined
  readonly failure?: unknown
}

/** Sends an object as a dry run and shows which controls handled it. Nothing is stored. */
function TryObject() {
  const consoleContext = useConsoleContext()
  const [text, setText] = useState(example)
  const [tried, setTried] = useState<Tried | undefined>()
  const attempt = async () => setTried(await tryObject(consoleContext, text))
  return (
    <Card title="Who would look at an object?" wide>
      <p class="hint">The object is sent as a dry run: it passes every control and webhook, and nothing is stored.</p>
      <div class="short-editor">
        <Editor label="An object to try" text={example} onChange={setText} />
      </div>
      <div class="toolbar">
        <button type="button" class="primary" onClick={() => void attempt()}>
          Try it
        </button>
      </div>
      {tried !== undefined && <Outcome tried={tried} />}
    </Card>
  )
}

function Outcome({ tried: { admission, failure } }: { readonly tried: Tried }) {
  return (
    <>
      {failure === undefined ? <Notice tone="good" title="It would be admitted" /> : <Failure error={failure} />}
      {admission !== undefined && <AdmissionTrace admission={admission} isOpen />}
      {admission === undefined && failure === undefined && (
        <p class="hint">Only users who may create admissionexplanations see the admission steps.</p>
      )}
    </>
  )
}

async function tryObject({ client, kinds }: ConsoleContext, text: string): Promise<Tried> {
  let admission: Admission | undefined
  const attempt = async ({ explained }: { readonly explained: boolean }) => {
    const { object, collection, one } = parseTrialObject(text, kinds)
    const send = (method: string, path: string) =>
      client.open({
        method,
        path,
        body: object,
        query: { dryRun: 'All', fieldManager: 'console' },
        headers: explained ? { 'explain-admission': 'true' } : {},
        onHeaders: (headers) => {
          admission = explained ? readAdmission(headers) : undefined
        },
      })
    await send('POST', collection).catch((error: unknown) => {
      if (error instanceof StatusError && error.reason === 'AlreadyExists') return send('PUT', one)
      throw error
    })
  }
  try {
    await attempt({ explained: true }).catch((error: unknown) => {
      if (!isExplanationRefused(error)) throw error
      return attempt({ explained: false })
    })
    return { admission }
  } catch (failure) {
    return { admission, failure }
  }
}

function parseTrialObject(text: string, kinds: Kinds) {
  const object = parseYamlText(text, 3 * 1024 * 1024).value
  if (!isObject(object) || !isObject(object.metadata))
    throw new Error('an object has at least apiVersion, kind and metadata')
  const type = kinds.ofObject(String(object.apiVersion), String(object.kind))
  if (type === undefined)
    throw new Error(`the server does not serve ${String(object.kind)} of ${String(object.apiVersion)}`)
  const namespace = String(object.metadata.namespace ?? 'default')
  const name = { ...(type.namespaced ? { namespace } : {}), name: String(object.metadata.name ?? '') }
  return { object, collection: collectionPath(type, namespace), one: objectPath(type, name) }
}
