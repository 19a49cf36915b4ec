/**
 * What an edit would do, before it is done: a dry run on the server, the fields that change, those that others own, and
 * what admission makes of it. Each conflict is settled by the user: take the field over, or leave it alone.
 */
import { useEffect, useState } from 'preact/hooks'
import { actionOn } from '../core/access.ts'
import { applyEdit, type Conflict, type Edit, nameIn, type Review, reviewEdit } from '../core/edit.ts'
import { type FieldChange, pathText } from '../core/fields.ts'
import { useSurroundings } from '../core/kinds.ts'
import { ownersOf, readOwnership } from '../core/ownership.ts'
import { shown } from '../core/text.ts'
import { AdmissionTrace } from '../parts/admission-trace.tsx'
import { ChangeTable } from '../parts/changes.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Loading, Notice } from '../parts/shown.tsx'
import { isHidden, type ObjectView } from './object-view.ts'

interface EditReviewProps {
  readonly edit: Edit
  readonly view: Pick<ObjectView, 'secrecy'>
  readonly onClose: () => void
  readonly onApplied: () => void
}

export function EditReview({ edit, view, onClose, onApplied }: EditReviewProps) {
  const { review, choice, failure, isBusy, leave, take, apply } = useReview(edit, onApplied)
  const [removes, setRemoves] = useState(false)
  const conflicts = (review?.conflicts ?? []).filter(({ field }) => !choice.left.has(field))
  const isReady = review !== undefined && conflicts.length === 0 && review.error === undefined
  const ownership = readOwnership(edit.base.metadata)
  const action = actionOn(edit.type, 'patch', nameIn(edit.base))
  return (
    <Dialog title="Review the changes" onClose={onClose} class="review">
      <h2>Review the changes</h2>
      {review === undefined && <Loading what="Trying it on the server" />}
      {review?.error !== undefined && <Failure error={review.error} action={action} />}
      {review !== undefined && (
        <ChangeTable
          changes={review.changes}
          ownersOf={({ path }: FieldChange) => ownersOf(ownership, path)}
          isHidden={({ path }: FieldChange) => isHidden(view, path)}
        />
      )}
      {conflicts.length > 0 && <Conflicts conflicts={conflicts} onLeave={leave} onTakeAll={() => take(conflicts)} />}
      {review !== undefined && review.staying.length > 0 && (
        <Staying staying={review.staying} removes={removes} onChange={setRemoves} />
      )}
      <Fields title="Left alone" fields={choice.left} />
      <Fields title="Taken over from their owners" fields={choice.taken} />
      {review !== undefined && <AdmissionTrace admission={review.admission} />}
      {failure !== undefined && <Failure error={failure} action={action} />}
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Back
        </button>
        <button
          type="button"
          class="primary"
          disabled={!isReady || isBusy}
          onClick={() => void apply(removes ? (review?.staying ?? []) : [])}
        >
          Apply
        </button>
      </div>
    </Dialog>
  )
}

const none: ReadonlySet<string> = new Set()

/** Tries the edit on the server, again whenever the user has settled a conflict; and applies it. */
function useReview(edit: Edit, onApplied: () => void) {
  const { client } = useSurroundings()
  const [review, setReview] = useState<Review | undefined>()
  const [choice, setChoice] = useState({ left: none, taken: none })
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const force = choice.taken.size > 0
  useEffect(() => {
    let isGone = false
    void reviewEdit(client, edit, { left: choice.left, force }).then((next) => isGone || setReview(next))
    return () => {
      isGone = true
    }
  }, [choice])
  const apply = async (removing: readonly FieldChange[]) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await applyEdit(client, edit, { left: choice.left, force, removing })
      onApplied()
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const leave = (field: string) => setChoice({ ...choice, left: new Set([...choice.left, field]) })
  const take = (conflicts: readonly Conflict[]) =>
    setChoice({ ...choice, taken: new Set(conflicts.map(({ field }) => field)) })
  return { review, choice, failure, isBusy, leave, take, apply }
}

function Fields({ title, fields }: { readonly title: string; readonly fields: ReadonlySet<string> }) {
  if (fields.size === 0) return null
  return (
    <p class="hint">
      {title}: {[...fields].map((field) => shown(field, 200)).join(', ')}
    </p>
  )
}

interface StayingProps {
  readonly staying: readonly FieldChange[]
  readonly removes: boolean
  readonly onChange: (removes: boolean) => void
}

function Staying({ staying, removes, onChange }: StayingProps) {
  return (
    <Notice tone="warn" title="Others own fields that you removed">
      <p>An apply leaves them: {staying.map(({ path }) => shown(pathText(path), 200)).join(', ')}</p>
      <label class="check">
        <input type="checkbox" checked={removes} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
        Remove them as well, with a patch
      </label>
    </Notice>
  )
}

interface ConflictsProps {
  readonly conflicts: readonly Conflict[]
  readonly onLeave: (field: string) => void
  readonly onTakeAll: () => void
}

function Conflicts({ conflicts, onLeave, onTakeAll }: ConflictsProps) {
  return (
    <Notice tone="warn" title="Others own fields that you changed">
      <ul class="conflicts">
        {conflicts.map(({ field, owner }) => (
          <li key={`${field} ${owner}`}>
            <span>
              <code>{shown(field, 300)}</code> is owned by <strong>{shown(owner, 100)}</strong>
            </span>
            <button type="button" onClick={() => onLeave(field)}>
              Leave it
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={onTakeAll}>
        {conflicts.length === 1 ? 'Take it over' : `Take these ${conflicts.length} over`}
      </button>
    </Notice>
  )
}
