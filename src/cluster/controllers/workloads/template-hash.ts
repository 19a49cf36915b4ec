/**
 * Short content hashes, used as name suffixes of ReplicaSets and ControllerRevisions. Equal contents have equal hashes,
 * regardless of member order. Hashes of different contents may collide, so a collision count is included in the hash.
 * The algorithm is specific to this program, so only the loop that created a hash can compare it with another hash.
 */
import { isObject } from '../../../api/json/json.ts'

/** Returns a short hash of the content, encoded without vowels. Uses 32-bit FNV-1a over a canonical form. */
export function contentHash(content: unknown, collisions: number | undefined): string {
  const hash = new Fnv32()
  hash.addValue(content)
  if (collisions !== undefined) hash.addText(`\0${collisions}`)
  return speakable(String(hash.value))
}

const letters = 'bcdfghjklmnpqrstvwxz2456789'

function speakable(digits: string): string {
  return Array.from(digits, (digit) => letters[digit.charCodeAt(0) % letters.length]).join('')
}

class Fnv32 {
  value = 0x811c9dc5

  addText(text: string): void {
    for (const byte of Buffer.from(text)) this.value = Math.imul(this.value ^ byte, 0x01000193) >>> 0
  }

  /** Adds a value to the hash. Members are sorted by name, and undefined values are skipped. */
  addValue(value: unknown): void {
    if (Array.isArray(value)) {
      this.addText('[')
      for (const item of value) this.addValue(item)
      this.addText(']')
    } else if (isObject(value)) {
      this.addText('{')
      for (const key of Object.keys(value).sort()) {
        if (value[key] === undefined) continue
        this.addText(`${JSON.stringify(key)}:`)
        this.addValue(value[key])
      }
      this.addText('}')
    } else this.addText(`${JSON.stringify(value)},`)
  }
}
