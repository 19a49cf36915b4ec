/**
 * How an object came to be: its changes, newest first, each with who made it, how and what changed, and a way back. It is
 * shown where the server serves `objecthistories` and `paststates`.
 */
import { useEffect, useState } from 'preact/hooks'
import type { Json, JsonObject } from '../../../model/json.ts'
import { asJson } from '../../../model/object.ts'
import { ask } from '../core/access.ts'
import type { Edit } from '../core/edit.ts'
import type { FieldChange, Step } from '../core/fields.ts'
import { useSurroundings } from '../core/kinds.ts'
import { shown } from '../core/text.ts'
import { ChangeTable } from '../parts/changes.tsx'
import { Failure } from '../parts/failure.tsx'
import { Age, Chip, Loading } from '../parts/shown.tsx'
import { EditReview } from './edit-review.tsx'
import type { ObjectView } from './object-view.ts'

interface Change {
  readonly path?: string
  readonly steps?: readonly { readonly member?: string; readonly named?: string }[]
  readonly before?: Json
  readonly after?: Json
  readonly concealed?: boolean
}

interface Revision {
  readonly revision: string
  readonly time?: string
  readonly user?: string
  readonly manager?: string
  readonly verb?: string
  readonly subresource?: string
  readonly deleted?: boolean
  readonly beyond?: boolean
  readonly changes?: readonly Change[]
}

interface History {
  readonly revisions: readonly Revision[]
  readonly more?: boolean
}

interface Past {
  readonly items?: readonly JsonObject[]
}

export function ObjectHistory(view: ObjectView) {
  const around = useSurroundings()
  const { type, object, schema } = view
  const { namespace, name = '', resourceVersion } = object.metadata
  const place = { group: type.group, resource: type.plural, ...(namespace && { namespace }), name }
  const [revisions, setRevisions] = useState<readonly Revision[] | undefined>()
  const [hasMore, setMore] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const [edit, setEdit] = useState<Edit | undefined>()
  const read = async (before?: string) => {
    try {
      const history = await ask<History>(around, 'objecthistories', { ...place, ...(before && { before }) })
      setRevisions([...(before === undefined ? [] : (revisions ?? [])), ...history.revisions])
      setMore(history.more ?? false)
      setFailure(undefined)
    } catch (error) {
      setFailure(error)
    }
  }
  useEffect(() => void read(), [resourceVersion])
  /** The state at a revision becomes the draft of an edit, which is reviewed as any other. */
  const goBack = async ({ revision }: Revision) => {
    try {
      const { items = [] } = await ask<Past>(around, 'paststates', { ...place, revision })
      const [past] = items
      if (past === undefined) throw new Error('there was no such object at that revision')
      setEdit({ type, base: object, draft: { ...past, metadata: restored(object, past) }, schema })
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <>
      {failure !== undefined && <Failure error={failure} />}
      {revisions === undefined && failure === undefined && <Loading />}
      <ol class="history">
        {(revisions ?? []).map((revision, i) => (
          <Item
            key={revision.revision}
            revision={revision}
            onGoBack={i > 0 && !revision.deleted && !view.isGone ? () => void goBack(revision) : undefined}
          />
        ))}
      </ol>
      {hasMore && (
        <button type="button" onClick={() => void read(revisions?.at(-1)?.revision)}>
          Show older changes
        </button>
      )}
      {edit !== undefined && (
        <EditReview edit={edit} view={view} onClose={() => setEdit(undefined)} onApplied={() => setEdit(undefined)} />
      )}
    </>
  )
}

interface ItemProps {
  readonly revision: Revision
  /** Undefined where there is nothing to go back to. */
  readonly onGoBack: (() => void) | undefined
}

function Item({ revision, onGoBack }: ItemProps) {
  return (
    <li>
      <Head revision={revision} />
      {revision.beyond ? (
        <p class="hint">Older than the history: who made it is not known.</p>
      ) : (
        <ChangeTable changes={(revision.changes ?? []).map(asFieldChange)} />
      )}
      {onGoBack !== undefined && (
        <button type="button" onClick={onGoBack}>
          Go back to this state
        </button>
      )}
    </li>
  )
}

function Head({
  revision: { revision, time, user = '', manager = '', verb = '', subresource = '', deleted },
}: {
  readonly revision: Revision
}) {
  return (
    <header>
      <Chip tone={deleted ? 'bad' : 'info'}>
        {shown(verb, 30)}
        {subresource !== '' && ` ${shown(subresource, 30)}`}
      </Chip>
      <strong>{shown(user, 100)}</strong>
      <span class="sub">
        {manager !== '' && `as ${shown(manager, 60)}, `}
        <Age since={time} /> ago, revision {shown(revision, 30)}
      </span>
    </header>
  )
}

function asFieldChange({ steps = [], before, after, concealed }: Change): FieldChange {
  const path = steps.map(
    ({ member, named }): Step => (member === undefined ? { keys: { name: named ?? '' } } : { member }),
  )
  return concealed ? { path, before: '(secret)', after: '(secret)' } : { path, before, after }
}

/** What people wrote of the metadata goes back, what the server keeps stays. */
function restored(object: ObjectView['object'], past: JsonObject): JsonObject {
  const { labels: _l, annotations: _a, ...kept } = object.metadata
  const { labels, annotations } = (past.metadata ?? {}) as JsonObject
  return { ...asJson(kept), ...(labels !== undefined && { labels }), ...(annotations !== undefined && { annotations }) }
}
