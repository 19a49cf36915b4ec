/**
 * Shows an object as a form that is derived from OpenAPI. Each field has its description and owners. Changes made in
 * the form are reviewed like any other edit.
 */
import { useMemo, useState } from 'preact/hooks'
import { isObject, type Json, type JsonObject, own, sameJson } from '../../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import type { Edit } from '../core/edit.ts'
import { withMember } from '../core/fields.ts'
import { readOwnership } from '../core/ownership.ts'
import { Loading, Notice } from '../parts/display.tsx'
import { EditReview } from './edit-review.tsx'
import { type FieldContext, FormField } from './form-field.tsx'
import { isHidden, type ObjectView } from './object-view.ts'

/** Fields that the form does not show, because they are set by the server or by a subresource. */
const leftOut = new Set(['apiVersion', 'kind', 'metadata', 'status'])

export function ObjectForm(view: ObjectView) {
  const { object, schema, type, secrecy } = view
  const [base, setBase] = useState(object)
  const [draft, setDraft] = useState<JsonObject>(() => structuredClone(asJson(object)))
  const [edit, setEdit] = useState<Edit | undefined>()
  const isChanged = !sameJson(draft, asJson(base))
  // The form shows the latest state of the object until the user changes a field.
  if (!isChanged && object !== base) {
    setBase(object)
    setDraft(structuredClone(asJson(object)))
  }
  if (schema === undefined) return <Loading what="Reading the description of this kind" />
  const reset = () => {
    setBase(object)
    setDraft(structuredClone(asJson(object)))
  }
  return (
    <form class="object-form" onSubmit={(event) => event.preventDefault()}>
      <div class="toolbar">
        <button
          type="button"
          class="primary"
          disabled={!isChanged}
          onClick={() => setEdit({ type, base, draft, schema })}
        >
          Review the changes
        </button>
        <button type="button" disabled={!isChanged} onClick={reset}>
          Undo all
        </button>
        {secrecy !== undefined && !secrecy.isRevealed && (
          <button type="button" onClick={secrecy.reveal}>
            Show the secret values
          </button>
        )}
      </div>
      <Fields view={view} base={base} draft={draft} onChange={setDraft} />
      {edit !== undefined && (
        <EditReview
          {...{ edit, view }}
          onClose={() => setEdit(undefined)}
          onApplied={() => {
            setEdit(undefined)
            setDraft(structuredClone(asJson(base)))
          }}
        />
      )}
    </form>
  )
}

interface FieldsProps {
  readonly view: ObjectView
  readonly base: ApiObject
  readonly draft: JsonObject
  readonly onChange: (draft: JsonObject) => void
}

function Fields({ view, base, draft, onChange }: FieldsProps) {
  const { schema, type, isGone } = view
  const ownership = useMemo(() => readOwnership(base.metadata), [base])
  const context: FieldContext = {
    ownership,
    readOnly: isGone || !type.verbs.includes('patch'),
    isHidden: (path) => isHidden(view, path),
  }
  const set = (member: string, value: Json | undefined) => onChange(withMember(draft, member, value))
  const metadata = isObject(draft.metadata) ? draft.metadata : {}
  const members = (schema?.properties ?? []).filter((name) => !leftOut.has(name))
  return (
    <>
      {['labels', 'annotations'].map((name) => (
        <FormField
          key={name}
          {...{ name, context }}
          path={[{ member: 'metadata' }, { member: name }]}
          schema={schema?.member('metadata')?.member(name)}
          value={own(metadata, name)}
          onChange={(value) => set('metadata', withMember(metadata, name, value))}
        />
      ))}
      {members.map((name) => (
        <FormField
          key={name}
          {...{ name, context }}
          path={[{ member: name }]}
          schema={schema?.member(name)}
          value={own(draft, name)}
          onChange={(value) => set(name, value)}
        />
      ))}
      {members.length === 0 && <Notice title="This kind has no fields that a form could show">Use YAML.</Notice>}
    </>
  )
}
