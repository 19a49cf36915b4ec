/** Admission: the webhooks with the state of their breakers, and a way to see who would look at an object. */
import { useEffect, useState } from 'preact/hooks'
import { collectionPath, objectPath } from '../../../client/resource-type.ts'
import { parseYamlText } from '../../../codec/yaml-text.ts'
import { StatusError } from '../../../library/client-browser.ts'
import { isObject, type JsonObject } from '../../../model/json.ts'
import type { ApiObject } from '../../../model/object.ts'
import { actionOn } from '../core/access.ts'
import { type Admission, readAdmission } from '../core/edit.ts'
import { type Kinds, useSurroundings } from '../core/kinds.ts'
import { useStore } from '../core/store.ts'
import { shown } from '../core/text.ts'
import { AdmissionTrace } from '../parts/admission-trace.tsx'
import { Editor } from '../parts/editor.tsx'
import { Failure } from '../parts/failure.tsx'
import { Age, Card, Chip, Notice, PageHead } from '../parts/shown.tsx'

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

const everyMs = 3_000

export function AdmissionPage() {
  const { client, kinds } = useSurroundings()
  useStore(kinds.store)
  const type = kinds.builtIn('admissionwebhooks', 'ops')
  const [webhooks, setWebhooks] = useState<readonly Webhook[] | undefined>()
  const [failure, setFailure] = useState<unknown>()
  useEffect(() => {
    if (type === undefined) return
    const aborting = new AbortController()
    const look = () =>
      client.list(type, { signal: aborting.signal }).then(
        ({ items }) => {
          setWebhooks(items as unknown as Webhook[])
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
  return (
    <>
      <PageHead title="Admission" />
      {failure !== undefined && <Failure error={failure} action={type && actionOn(type, 'list')} />}
      <Card title="Webhooks" wide>
        {webhooks?.length === 0 && <p class="hint">No webhook is configured.</p>}
        {webhooks !== undefined && webhooks.length > 0 && <WebhookTable webhooks={webhooks} />}
      </Card>
      <TryObject />
    </>
  )
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  return (
    <div class="scroll">
      <table class="plain-table">
        <thead>
          <tr>
            {['Webhook', 'Type', 'Breaker', 'Calls', 'Latency', 'On failure', 'Last error'].map((title) => (
              <th scope="col" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {webhooks.map(({ metadata, spec = {}, status = {} }) => (
            <tr key={metadata.name}>
              <td>
                <strong>{shown(spec.webhook, 100)}</strong>
                <div class="sub">{shown(spec.url, 200)}</div>
              </td>
              <td>{shown(spec.type, 20)}</td>
              <td>
                <Chip tone={status.breaker === 'Open' ? 'bad' : 'good'}>{shown(status.breaker, 20)}</Chip>
              </td>
              <td class="number">{status.calls ?? 0}</td>
              <td class="number">
                {status.lastLatencyMilliseconds === undefined ? '' : `${status.lastLatencyMilliseconds} ms`}
              </td>
              <td>{shown(spec.failurePolicy, 20)}</td>
              <td>
                {shown(status.lastError, 500)} {status.lastFailureTime && <Age since={status.lastFailureTime} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const example = `apiVersion: v1
kind: ConfigMap
metadata:
  name: example
  namespace: default
data:
  hello: world
`

/** Sends an object as a dry run and shows who looked at it; nothing is stored. */
function TryObject() {
  const { client, kinds } = useSurroundings()
  const [text, setText] = useState(example)
  const [admission, setAdmission] = useState<Admission | undefined>()
  const [failure, setFailure] = useState<unknown>()
  const attempt = async () => {
    setAdmission(undefined)
    setFailure(undefined)
    const send = (method: string, path: string, body: JsonObject) =>
      client.open({
        ...{ method, path, body, query: { dryRun: 'All', fieldManager: 'console' } },
        headers: { 'explain-admission': 'true' },
        onHeaders: (headers) => setAdmission(readAdmission(headers)),
      })
    try {
      const { object, collection, one } = placeOf(text, kinds)
      await send('POST', collection, object).catch((error: unknown) => {
        if (error instanceof StatusError && error.reason === 'AlreadyExists') return send('PUT', one, object)
        throw error
      })
    } catch (error) {
      setFailure(error)
    }
  }
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
      {failure !== undefined && <Failure error={failure} />}
      {admission !== undefined && failure === undefined && <Notice tone="good" title="It would be admitted" />}
      {admission !== undefined && <AdmissionTrace admission={admission} />}
    </Card>
  )
}

function placeOf(text: string, kinds: Kinds) {
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
