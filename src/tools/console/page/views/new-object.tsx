/** Creates an object from YAML after a dry run. */
import { useState } from 'preact/hooks'
import { stringifyYaml } from '../../../../api/codec/write-yaml.ts'
import { parseYamlText } from '../../../../api/codec/yaml-text.ts'
import { isObject, type JsonObject } from '../../../../api/json/json.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { collectionPath } from '../../../../client/requests/resource-type.ts'
import { type Admission, isExplanationRefused, manager, readAdmission, readBody } from '../core/edit.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { go, objectAddress } from '../core/route.ts'
import { AdmissionTrace } from '../parts/admission-trace.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Notice } from '../parts/display.tsx'
import { Editor } from '../parts/editor.tsx'
import { Failure } from '../parts/failure.tsx'

interface NewObjectProps {
  readonly type: Type
  readonly namespace: string
}

export function NewObject(props: NewObjectProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        New
      </button>
      {isOpen && <Creating {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function Creating({ type, namespace, onClose }: NewObjectProps & { readonly onClose: () => void }) {
  const { client } = useConsoleContext()
  const [beginning] = useState(() => templateFor(type, namespace))
  const [text, setText] = useState(beginning)
  const [failure, setFailure] = useState<unknown>()
  const [tried, setTried] = useState<Admission | undefined>()
  const send = async (how: 'try' | 'create') => {
    const dryRun = how === 'try'
    setFailure(undefined)
    setTried(undefined)
    try {
      const object = parseYamlText(text, 3 * 1024 * 1024).value
      if (!isObject(object)) throw new Error('an object is a map of fields')
      const created = await create(object, { dryRun, explain: dryRun })
      if (!dryRun) go(objectAddress(type, created.metadata))
    } catch (error) {
      setFailure(error)
    }
  }
  const create = async (object: JsonObject, how: { dryRun: boolean; explain: boolean }): Promise<ApiObject> => {
    const metadata = isObject(object.metadata) ? object.metadata : {}
    const where = type.namespaced ? String(metadata.namespace ?? namespace) : undefined
    try {
      const response = await client.open({
        method: 'POST',
        path: collectionPath(type, where),
        query: { dryRun: how.dryRun ? 'All' : undefined, fieldManager: manager },
        body: object,
        headers: how.explain ? { 'explain-admission': 'true' } : {},
        onHeaders: (headers) => how.dryRun && setTried(readAdmission(headers)),
      })
      return (await readBody(response)) as unknown as ApiObject
    } catch (error) {
      if (how.explain && isExplanationRefused(error)) return await create(object, { ...how, explain: false })
      throw error
    }
  }
  return (
    <Dialog title={`A new ${type.kind}`} onClose={onClose} class="review">
      <h2>A new {type.kind}</h2>
      <Editor label="The new object as YAML" text={beginning} onChange={setText} />
      {failure !== undefined && <Failure error={failure} />}
      {tried !== undefined && failure === undefined && <Notice tone="good" title="The server would create it" />}
      {tried !== undefined && <AdmissionTrace admission={tried} />}
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" onClick={() => void send('try')}>
          Try it
        </button>
        <button type="button" class="primary" onClick={() => void send('create')}>
          Create
        </button>
      </div>
    </Dialog>
  )
}

function templateFor({ group, version, kind, namespaced }: Type, namespace: string): string {
  const apiVersion = group === '' ? version : `${group}/${version}`
  const metadata = namespaced ? { name: 'new', namespace } : { name: 'new' }
  return stringifyYaml({ apiVersion, kind, metadata })
}
