/** A dialog that deletes an object after confirmation. It lists the objects that will be deleted with it. */
import { useState } from 'preact/hooks'
import type { ApiObject } from '../../../../api/model/object.ts'
import { nameIn } from '../core/edit.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { displayText } from '../core/text.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'

type Propagation = 'Background' | 'Foreground' | 'Orphan'

const ways: readonly (readonly [Propagation, string])[] = [
  ['Background', 'It goes at once; what it owns follows.'],
  ['Foreground', 'What it owns goes first.'],
  ['Orphan', 'What it owns stays.'],
]

export function DeleteButton({ type, object }: { readonly type: Type; readonly object: ApiObject }) {
  const { client } = useConsoleContext()
  const [isOpen, setOpen] = useState(false)
  const [way, setWay] = useState<Propagation>('Background')
  const [failure, setFailure] = useState<unknown>()
  if (!type.verbs.includes('delete')) return null
  const remove = async () => {
    const { uid = '' } = object.metadata
    try {
      await client.delete(type, nameIn(object), { propagationPolicy: way, preconditions: { uid } })
      setOpen(false)
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <>
      <button type="button" class="danger quiet" onClick={() => setOpen(true)}>
        Delete
      </button>
      {isOpen && (
        <Dialog title="Delete the object" onClose={() => setOpen(false)}>
          <h2>Delete {displayText(object.metadata.name, 100)}?</h2>
          <fieldset class="choices">
            <legend>What it owns</legend>
            {ways.map(([id, about]) => (
              <label key={id} class="check">
                <input type="radio" name="way" checked={way === id} onChange={() => setWay(id)} />
                {id}: {about}
              </label>
            ))}
          </fieldset>
          {failure !== undefined && <Failure error={failure} />}
          <div class="dialog-actions">
            <button type="button" onClick={() => setOpen(false)}>
              Cancel
            </button>
            <button type="button" class="danger" onClick={() => void remove()}>
              Delete
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
