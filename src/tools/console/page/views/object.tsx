/** Shows one object, with a header and tabs. A watch keeps the page up to date. */
import { useState } from 'preact/hooks'
import type { ApiObject } from '../../../../api/model/object.ts'
import type { ObjectName } from '../../../../client/library/client-browser.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { useObject } from '../core/objects.ts'
import { listAddress, route, setQuery, type TypePlace } from '../core/route.ts'
import { schemaOf } from '../core/schema.ts'
import { useAsked, useStore } from '../core/store.ts'
import { displayText } from '../core/text.ts'
import { Age, Chip, Loading, Notice, PageHead } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
import { Vanished } from './browse.tsx'
import { DeleteButton } from './delete-object.tsx'
import { ObjectForm } from './object-form.tsx'
import { ObjectHistory } from './object-history.tsx'
import { ObjectOverview } from './object-overview.tsx'
import { ObjectRelations } from './object-relations.tsx'
import type { ObjectView } from './object-view.ts'
import { ObjectYaml } from './object-yaml.tsx'
import { PodLogs } from './pod-logs.tsx'
import { PodTerminal } from './pod-terminal.tsx'

interface ObjectPageProps {
  readonly place: TypePlace
  readonly name: ObjectName
}

export function ObjectPage({ place, name }: ObjectPageProps) {
  const { kinds } = useConsoleContext()
  const { isLoaded } = kinds.store.value
  const type = kinds.find(place)
  if (type !== undefined) return <Followed type={type} name={name} />
  return isLoaded ? <Vanished place={place} /> : <Loading />
}

function Followed({ type, name }: { readonly type: Type; readonly name: ObjectName }) {
  const watched = useObject(type.verbs.includes('watch') ? type : undefined, name)
  const { client } = useConsoleContext()
  const read = useAsked(
    async (signal) => (type.verbs.includes('watch') ? undefined : await client.get(type, name, { signal })),
    [type, name.namespace, name.name],
  )
  const [last, setLast] = useState<ApiObject | undefined>()
  const object = watched.object ?? (read.state === 'done' ? read.value : undefined)
  if (object !== undefined && object !== last) setLast(object)
  const error = watched.error ?? (read.state === 'failed' ? read.error : undefined)
  const isGone = object === undefined && watched.synced
  const latestObject = object ?? last
  return (
    <>
      <Head type={type} name={name} object={latestObject} />
      {error !== undefined && latestObject === undefined && <Failure error={error} />}
      {isGone && (
        <Notice tone="warn" title={last === undefined ? 'There is no such object' : 'This object has been deleted'}>
          {last === undefined ? 'It appears here when it is created.' : 'Below is its last state.'}
        </Notice>
      )}
      {latestObject === undefined ? (
        error === undefined && !isGone && <Loading />
      ) : (
        <Tabs type={type} object={latestObject} isGone={isGone} />
      )}
    </>
  )
}

interface HeadProps {
  readonly type: Type
  readonly name: ObjectName
  readonly object: ApiObject | undefined
}

function Head({ type, name: { namespace, name }, object }: HeadProps) {
  const crumbs = (
    <nav class="crumbs" aria-label="Where this object is">
      <a href={listAddress(type)}>{displayText(type.kind, 100)}</a>
      {namespace !== undefined && (
        <>
          <span aria-hidden="true">/</span>
          <a href={listAddress(type, [['namespace', namespace]])}>{displayText(namespace, 100)}</a>
        </>
      )}
    </nav>
  )
  return (
    <PageHead title={displayText(name, 253)} crumbs={crumbs}>
      {object?.metadata.deletionTimestamp && <Chip tone="warn">being deleted</Chip>}
      {object !== undefined && (
        <span class="sub">
          created <Age since={object.metadata.creationTimestamp} /> ago
        </span>
      )}
      <span class="spacer" />
      {object !== undefined && <DeleteButton type={type} object={object} />}
    </PageHead>
  )
}

const tabs: readonly (readonly [id: string, title: string, Tab: (view: ObjectView) => preact.ComponentChildren])[] = [
  ['overview', 'Overview', ObjectOverview],
  ['yaml', 'YAML', ObjectYaml],
  ['form', 'Form', ObjectForm],
  ['relations', 'Relations', ObjectRelations],
  ['history', 'History', ObjectHistory],
  ['logs', 'Logs', PodLogs],
  ['terminal', 'Terminal', PodTerminal],
]

const podTabs = new Set(['logs', 'terminal'])

function Tabs({ type, object, isGone }: { readonly type: Type; readonly object: ApiObject; readonly isGone: boolean }) {
  const { client, kinds } = useConsoleContext()
  const { query } = useStore(route)
  const hasHistory = kinds.builtIn('objecthistories', 'ops') !== undefined
  const isPod = type.group === '' && type.plural === 'pods'
  const offered = tabs.filter(([id]) => (id === 'history' ? hasHistory : podTabs.has(id) ? isPod && !isGone : true))
  const [current, , Tab] = offered.find(([id]) => id === query.get('tab')) ?? offered[0]!
  const schema = useAsked(() => schemaOf(client, type), [client, type])
  const [isRevealed, setRevealed] = useState(false)
  const isSecret = type.group === '' && type.plural === 'secrets'
  const view: ObjectView = {
    type,
    object,
    isGone,
    schema: schema.state === 'done' ? schema.value : undefined,
    secrecy: isSecret ? { isRevealed, reveal: () => setRevealed(true) } : undefined,
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const at = offered.findIndex(([id]) => id === current)
    const [next] = offered[(at + step + offered.length) % offered.length]!
    setQuery({ tab: next })
    requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus())
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Views of the object" onKeyDown={onKeyDown}>
        {offered.map(([id, title]) => (
          <button
            type="button"
            role="tab"
            id={`tab-${id}`}
            key={id}
            aria-selected={id === current}
            aria-controls="tab-panel"
            tabIndex={id === current ? 0 : -1}
            onClick={() => setQuery({ tab: id })}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${current}`}>
        <Tab {...view} />
      </div>
    </>
  )
}
