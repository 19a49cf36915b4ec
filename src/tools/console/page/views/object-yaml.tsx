/**
 * The YAML tab of an object. Shows the owners of each field, and contains an editor. Changes to the text are reviewed
 * like any other edit.
 */

import { useMemo, useState } from 'preact/hooks'
import { stringifyYaml } from '../../../../api/codec/write-yaml.ts'
import { parseYamlText } from '../../../../api/codec/yaml-text.ts'
import { isObject, type JsonObject } from '../../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { messageOf } from '../../../../base/text/errors.ts'
import type { Edit } from '../core/edit.ts'
import { linesOf, maxLines, topKeys } from '../core/field-lines.ts'
import { ownersOf, readOwnership } from '../core/ownership.ts'
import { displayText } from '../core/text.ts'
import { Notice, OwnerChip } from '../parts/display.tsx'
import { Editor } from '../parts/editor.tsx'
import { EditReview } from './edit-review.tsx'
import { isHidden, type ObjectView } from './object-view.ts'

export function ObjectYaml(view: ObjectView) {
  const [base, setBase] = useState<ApiObject | undefined>()
  if (base === undefined) return <Reading view={view} onEdit={() => setBase(view.object)} />
  return <Editing view={view} base={base} onDone={() => setBase(undefined)} />
}

function Reading({ view, onEdit }: { readonly view: ObjectView; readonly onEdit: () => void }) {
  const { object, schema, type, secrecy, isGone } = view
  const lines = useMemo(() => linesOf(withoutManagedFields(object), schema), [object, schema])
  const ownership = useMemo(() => readOwnership(object.metadata), [object])
  const mayEdit = type.verbs.includes('patch') && !isGone
  const isLocked = secrecy !== undefined && !secrecy.isRevealed
  return (
    <>
      <div class="toolbar">
        {mayEdit && (
          <button type="button" class="primary" onClick={onEdit} disabled={isLocked}>
            Edit
          </button>
        )}
        <button type="button" onClick={() => void copyText(yamlOf(object))} disabled={isLocked}>
          Copy
        </button>
        {isLocked && (
          <button type="button" onClick={secrecy.reveal}>
            Show the secret values
          </button>
        )}
        <span class="spacer" />
        <span class="hint">The owner of each field stands beside it.</span>
      </div>
      <div class="fields">
        <table>
          <thead class="sr-only">
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Owners</th>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ id, depth, label, value, path, description }) => (
              <tr key={id} title={description ? displayText(description, 500) : undefined}>
                <td style={{ paddingInlineStart: `${depth * 2 + 1}ch` }}>
                  <span class="field-key">{displayText(label, 200)}</span>{' '}
                  <span class="field-value">
                    {isHidden(view, path) && value !== '' ? '••••••••' : displayText(value, 500)}
                  </span>
                </td>
                <td class="field-owners">
                  {ownersOf(ownership, path).map((owner) => (
                    <OwnerChip key={`${owner.manager} ${owner.operation} ${owner.subresource}`} owner={owner} />
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {lines.length >= maxLines && (
        <Notice title={`Only the first ${maxLines.toLocaleString('en')} fields are shown`}>
          Copy has all of them.
        </Notice>
      )}
    </>
  )
}

interface EditingProps {
  readonly view: ObjectView
  readonly base: ApiObject
  readonly onDone: () => void
}

function Editing({ view, base, onDone }: EditingProps) {
  const text = useMemo(() => yamlOf(base), [base])
  const [draft, setDraft] = useState(text)
  const [edit, setEdit] = useState<Edit | undefined>()
  const [fault, setFault] = useState('')
  const isOutdated = view.object.metadata.resourceVersion !== base.metadata.resourceVersion
  const review = () => {
    try {
      const { value } = parseYamlText(draft, 3 * 1024 * 1024)
      if (!isObject(value)) throw new Error('an object is a map of fields')
      setFault('')
      setEdit({ type: view.type, base, draft: value, schema: view.schema })
    } catch (error) {
      setFault(messageOf(error))
    }
  }
  return (
    <>
      <div class="toolbar">
        <button type="button" class="primary" onClick={review} disabled={draft === text}>
          Review the changes
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        <span class="spacer" />
        {isOutdated && (
          <span class="hint">Somebody has changed the object meanwhile: apply takes that into account.</span>
        )}
      </div>
      {fault !== '' && (
        <Notice tone="bad" title="This YAML cannot be read">
          {displayText(fault)}
        </Notice>
      )}
      <Editor label="The object as YAML" text={text} onChange={setDraft} />
      {edit !== undefined && (
        <EditReview edit={edit} view={view} onClose={() => setEdit(undefined)} onApplied={onDone} />
      )}
    </>
  )
}

/** Returns the object without managed fields, because the view shows the owners next to each field. */
function withoutManagedFields(object: ApiObject): JsonObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...asJson(object), metadata: asJson(metadata) }
}

function yamlOf(object: ApiObject): string {
  const written = withoutManagedFields(object)
  return topKeys(written)
    .map((key) => stringifyYaml({ [key]: written[key] }))
    .join('')
}

async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
}
