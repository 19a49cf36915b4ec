/**
 * The preview of an edit. Shows the result of a dry run on the server: the changed fields, fields that conflict with
 * other managers, and the effect of admission. For each conflict, the user can take over the field or leave it
 * unchanged.
 */
import { useEffect, useState } from 'preact/hooks'
import { applyEdit, type Conflict, type Edit, type Review, reviewEdit } from '../core/edit.ts'
import { type FieldChange, pathText } from '../core/fields.ts'
import { useConsoleContext } from '../core/kinds.ts'
import { ownersOf, readOwnership } from '../core/ownership.ts'
import { displayText } from '../core/text.ts'
import { AdmissionTrace } from '../parts/admission-trace.tsx'
import { ChangeTable } from '../parts/changes.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loading, Notice } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
import { isHidden, type ObjectView } from './object-view.ts'

interface EditReviewProps {
  readonly edit: Edit
  readonly view: Pick<ObjectView, 'secrecy'>
  readonly onClose: () => void
  readonly onApplied: () => void
}

export function EditReview({ edit, view, onClose, onApplied }: EditReviewProps) {
  const { review, choice, open: conflicts, failure, isBusy, decide, apply } = useReview(edit, onApplied)
  const [removes, setRemoves] = useState(false)
  const isReady = review !== undefined && review.conflicts.length === 0 && review.error === undefined
  const ownership = readOwnership(edit.base.metadata)
  return (
    <Dialog title="Review the changes" onClose={onClose} class="review">
      <h2>Review the changes</h2>
      {review === undefined && <Loading what="Trying it on the server" />}
      {review?.error !== undefined && <Failure error={review.error} />}
      {review !== undefined && (
        <ChangeTable
          changes={review.changes}
          ownersOf={({ path }: FieldChange) => ownersOf(ownership, path)}
          isHidden={({ path }: FieldChange) => isHidden(view, path)}
        />
      )}
      {conflicts.length > 0 && <Conflicts conflicts={conflicts} onDecide={decide} />}
      {review !== undefined && review.unchangedFields.length > 0 && (
        <UnchangedFields unchangedFields={review.unchangedFields} removes={removes} onChange={setRemoves} />
      )}
      <Fields title="Left alone" fields={choice.left} />
      <Fields title="Taken over from their owners" fields={choice.taken} />
      {review !== undefined && <AdmissionTrace admission={review.admission} />}
      {failure !== undefined && <Failure error={failure} />}
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Back
        </button>
        <button
          type="button"
          class="primary"
          disabled={!isReady || isBusy}
          onClick={() => void apply(removes ? (review?.unchangedFields ?? []) : [])}
        >
          Apply
        </button>
      </div>
    </Dialog>
  )
}

interface Choices {
  /** Conflicting fields that the user chose to leave unchanged. */
  readonly left: ReadonlySet<string>
  readonly taken: ReadonlySet<string>
}

/** Dry-runs the edit, repeats the dry run when all conflicts are resolved, and applies the edit. */
function useReview(edit: Edit, onApplied: () => void) {
  const { client } = useConsoleContext()
  const [review, setReview] = useState<Review | undefined>()
  const [choice, setChoice] = useState<Choices>({ left: new Set(), taken: new Set() })
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const conflicts = review?.conflicts ?? []
  const open = conflicts.filter(({ field }) => !choice.left.has(field) && !choice.taken.has(field))
  const settled = { left: choice.left, force: choice.taken.size > 0 }
  const isDue = review === undefined || (conflicts.length > 0 && open.length === 0)
  useEffect(() => {
    if (!isDue) return
    let isGone = false
    void reviewEdit(client, edit, settled).then((next) => isGone || setReview(next))
    return () => {
      isGone = true
    }
  }, [isDue, choice])
  const apply = async (removing: readonly FieldChange[]) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await applyEdit(client, edit, { ...settled, removing })
      onApplied()
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const decide = (verdict: keyof Choices, field: string) =>
    setChoice({ ...choice, [verdict]: new Set([...choice[verdict], field]) })
  return { review, choice, open, failure, isBusy, decide, apply }
}

function Fields({ title, fields }: { readonly title: string; readonly fields: ReadonlySet<string> }) {
  if (fields.size === 0) return null
  return (
    <p class="hint">
      {title}: {[...fields].map((field) => displayText(field, 200)).join(', ')}
    </p>
  )
}

interface UnchangedFieldsProps {
  readonly unchangedFields: readonly FieldChange[]
  readonly removes: boolean
  readonly onChange: (removes: boolean) => void
}

function UnchangedFields({ unchangedFields, removes, onChange }: UnchangedFieldsProps) {
  return (
    <Notice tone="warn" title="Others own fields that you removed">
      <p>An apply leaves them: {unchangedFields.map(({ path }) => displayText(pathText(path), 200)).join(', ')}</p>
      <label class="check">
        <input type="checkbox" checked={removes} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
        Remove them as well, with a patch
      </label>
    </Notice>
  )
}

interface ConflictsProps {
  readonly conflicts: readonly Conflict[]
  readonly onDecide: (verdict: 'left' | 'taken', field: string) => void
}

function Conflicts({ conflicts, onDecide }: ConflictsProps) {
  return (
    <Notice tone="warn" title="Others own fields that you changed">
      <ul class="conflicts">
        {conflicts.map(({ field, owner }) => (
          <li key={`${field} ${owner}`}>
            <span>
              <code>{displayText(field, 300)}</code> is owned by <strong>{displayText(owner, 100)}</strong>
            </span>
            <span class="toolbar">
              <button type="button" onClick={() => onDecide('left', field)}>
                Leave it
              </button>
              <button type="button" onClick={() => onDecide('taken', field)}>
                Take it over
              </button>
            </span>
          </li>
        ))}
      </ul>
    </Notice>
  )
}
