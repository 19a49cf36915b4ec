/**
 * History of an object: its changes, newest first, with author, operation and changed fields, and a button for
 * reverting to an earlier state. Shown if the server serves `objecthistories` and `paststates`.
 */
import { useEffect, useState } from 'preact/hooks'
import type { Json, JsonObject } from '../../../../api/json/json.ts'
import { asJson } from '../../../../api/model/object.ts'
import { isStatusChange } from '../../../../client/requests/status-change.ts'
import { ask } from '../core/access.ts'
import type { Edit } from '../core/edit.ts'
import type { FieldChange, Step } from '../core/fields.ts'
import { useConsoleContext } from '../core/kinds.ts'
import { displayText } from '../core/text.ts'
import { ChangeTable } from '../parts/changes.tsx'
import { Age, Chip, Loading } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
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
  readonly created?: boolean
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
  const consoleContext = useConsoleContext()
  const { type, object, schema } = view
  const { namespace, name = '' } = object.metadata
  const place = { group: type.group, resource: type.plural, ...(namespace && { namespace }), name }
  const [showsStatus, setShowsStatus] = useState(false)
  const [edit, setEdit] = useState<Edit | undefined>()
  const { revisions, readOlder, failure, setFailure } = useRevisions(place, object, { showsStatus })
  /** Open the earlier state as the draft of an edit, so that the user reviews it before it is written. */
  const goBack = async ({ revision }: Revision) => {
    try {
      const { items = [] } = await ask<Past>(consoleContext, 'paststates', { ...place, revision })
      const [past] = items
      if (past === undefined) throw new Error('there was no such object at that revision')
      setEdit({ type, base: object, draft: { ...past, metadata: restored(object, past) }, schema })
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={showsStatus}
          onChange={({ currentTarget }) => setShowsStatus(currentTarget.checked)}
        />{' '}
        Show changes of the status
      </label>
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
      {readOlder !== undefined && (
        <button type="button" onClick={readOlder}>
          Show older changes
        </button>
      )}
      {edit !== undefined && (
        <EditReview edit={edit} view={view} onClose={() => setEdit(undefined)} onApplied={() => setEdit(undefined)} />
      )}
    </>
  )
}

/** Returns the revisions of an object, newest first. Reads the revisions again when the object changes. */
function useRevisions(
  place: object,
  { metadata: { resourceVersion } }: ObjectView['object'],
  { showsStatus }: { readonly showsStatus: boolean },
) {
  const consoleContext = useConsoleContext()
  const [revisions, setRevisions] = useState<readonly Revision[] | undefined>()
  /** The oldest revision read so far, including hidden revisions. Undefined if there are no older revisions. */
  const [oldest, setOldest] = useState<string | undefined>()
  const [failure, setFailure] = useState<unknown>()
  const read = async (before?: string) => {
    try {
      const isShown = (revision: Revision) => showsStatus || !isStatusChange(revision)
      const page = await readPages((from) => ask(consoleContext, 'objecthistories', { ...place, ...from }), {
        before,
        isShown,
      })
      setRevisions([...(before === undefined ? [] : (revisions ?? [])), ...page.revisions])
      setOldest(page.oldest)
      setFailure(undefined)
    } catch (error) {
      setFailure(error)
    }
  }
  useEffect(() => void read(), [resourceVersion, showsStatus])
  const readOlder = oldest === undefined ? undefined : () => void read(oldest)
  return { revisions, readOlder, failure, setFailure }
}

const pageSize = 100
const fewRevisions = 10
const maxPages = 5

interface Wanted {
  /** Revision before which reading continues. Undefined to start with the latest revision. */
  readonly before: string | undefined
  readonly isShown: (revision: Revision) => boolean
}

/**
 * Reads pages until there are revisions to show, because control loops may have written hundreds of status changes,
 * which are hidden.
 */
async function readPages(
  read: (from: object) => Promise<History>,
  { before, isShown }: Wanted,
): Promise<{ readonly revisions: readonly Revision[]; readonly oldest: string | undefined }> {
  const revisions: Revision[] = []
  let last = before
  for (let page = 0; page < maxPages; page++) {
    const history = await read({ limit: pageSize, ...(last === undefined ? {} : { before: last }) })
    revisions.push(...history.revisions.filter(isShown))
    last = history.revisions.at(-1)?.revision
    if (!history.more || last === undefined) return { revisions, oldest: undefined }
    if (revisions.length >= fewRevisions) break
  }
  return { revisions, oldest: last }
}

interface ItemProps {
  readonly revision: Revision
  /** Called to revert to this revision. Undefined if there is no earlier state. */
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
        {displayText(verb, 30)}
        {subresource !== '' && ` ${displayText(subresource, 30)}`}
      </Chip>
      <strong>{displayText(user, 100)}</strong>
      <span class="sub">
        {manager !== '' && `as ${displayText(manager, 60)}, `}
        <Age since={time} /> ago, revision {displayText(revision, 30)}
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

/**
 * Returns the current metadata with the labels and annotations from the earlier state. The server sets all other
 * metadata.
 */
function restored(object: ObjectView['object'], past: JsonObject): JsonObject {
  const { labels: _l, annotations: _a, ...remainingMetadata } = object.metadata
  const { labels, annotations } = (past.metadata ?? {}) as JsonObject
  return {
    ...asJson(remainingMetadata),
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
  }
}
