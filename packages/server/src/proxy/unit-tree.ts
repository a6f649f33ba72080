/**
 * Every history that a client has sent in one session, as a tree of units. Histories that diverge
 * become branches; both stay. Each unit is in an entry of the transcript.
 */
export interface UnitNode {
  readonly hash: string
  readonly parent: UnitNode | null
  /** How many units lead here, this one included. */
  readonly depth: number
  readonly children: Map<string, UnitNode>
  /** The entry that ends with this unit: a rewind can lead there. Null: it ends in mid-entry. */
  entry: number | null
  /** Set where a handoff replaces everything up to here. */
  boundary: Boundary | null
  /** The handoff that did so until someone undid it. */
  undone: Boundary | null
}

/** The bytes sent in place of the units up to a node. They are stored and never regenerated. */
export interface Boundary {
  /** The entry of the compaction. */
  readonly entry: number
  /** What an item that refers to it has to repeat. */
  readonly token?: string
  readonly wire: string
  /** The items that replace the covered part, as JSON without brackets. */
  readonly items: string
  /** The handoff alone, for a client that has changed to another wire meanwhile. */
  readonly text: string
}

export class UnitTree {
  readonly root = nodeUnder(null, '')
  /** The last unit of the transcript's path. */
  head: UnitNode = this.root
  readonly #byEntry = new Map<number, UnitNode>([[0, this.root]])

  readonly #covered = new Map<number, UnitNode>()
  /** How many handoffs were undone. */
  undos = 0

  constructor() {
    this.root.entry = 0
  }

  /** The last known node along these units, below this node. */
  follow(from: UnitNode, hashes: readonly string[]): UnitNode {
    let node = from
    for (const hash of hashes) {
      const next = node.children.get(hash)
      if (next === undefined) return node
      node = next
    }
    return node
  }

  /** One entry of the transcript, at its end; none of its units may be new. Returns the last one. */
  add(entry: number, hashes: readonly string[]): UnitNode {
    for (const hash of hashes) {
      let node = this.head.children.get(hash)
      if (node === undefined) {
        node = nodeUnder(this.head, hash)
        this.head.children.set(hash, node)
      }
      this.head = node
    }
    if (hashes.length > 0) this.head.entry = entry
    this.#byEntry.set(entry, this.head)
    return this.head
  }

  rewind(entry: number, to: number): void {
    this.head = this.upTo(to)
    this.#byEntry.set(entry, this.head)
  }

  cover(upto: number, boundary: Boundary): void {
    const node = this.upTo(upto)
    node.boundary = boundary
    node.undone = null
    this.#covered.set(boundary.entry, node)
    this.#byEntry.set(boundary.entry, this.head)
  }

  /** Takes the handoff of this entry away, if it has one. */
  uncover(entry: number): void {
    const node = this.#covered.get(entry)
    if (node?.boundary?.entry === entry) node.boundary = null
    if (node?.undone?.entry === entry) node.undone = null
    this.#covered.delete(entry)
  }

  /** The handoff of `target` is not used any more; `entry` says so. */
  undo(entry: number, target: number): void {
    const node = this.#covered.get(target)
    if (node?.boundary?.entry === target) {
      node.undone = node.boundary
      node.boundary = null
    }
    this.undos += 1
    this.#byEntry.set(entry, this.head)
  }

  /** The last unit that the handoff in this entry covers. */
  coveredBy(entry: number): UnitNode | null {
    return this.#covered.get(entry) ?? null
  }

  /** The last unit of the path to this entry. */
  upTo(entry: number): UnitNode {
    return this.#byEntry.get(entry) ?? this.root
  }
}

function nodeUnder(parent: UnitNode | null, hash: string): UnitNode {
  const depth = parent === null ? 0 : parent.depth + 1
  return { hash, parent, depth, children: new Map(), entry: null, boundary: null, undone: null }
}

/** The nearest node, at or above, that ends an entry: the units behind it are recorded again. */
export function entryEnd(node: UnitNode): UnitNode & { readonly entry: number } {
  let at = node
  while (at.entry === null && at.parent !== null) at = at.parent
  return { ...at, entry: at.entry ?? 0 }
}

/** The node after so many units, on the way to this one. */
export function ancestorAt(node: UnitNode, depth: number): UnitNode | null {
  let at: UnitNode | null = node
  while (at !== null && at.depth > depth) at = at.parent
  return at?.depth === depth ? at : null
}

/** Handoffs that hold for this history, the one that covers most first. */
export function boundariesOf(node: UnitNode): readonly { depth: number; boundary: Boundary }[] {
  const found: { depth: number; boundary: Boundary }[] = []
  for (let at: UnitNode | null = node; at !== null; at = at.parent) {
    if (at.boundary !== null) found.push({ depth: at.depth, boundary: at.boundary })
  }
  return found
}

/** Whether the newest handoff of this history was undone: it should be sent whole while it fits. */
export function isUndone(node: UnitNode): boolean {
  for (let at: UnitNode | null = node; at !== null && at.boundary === null; at = at.parent) {
    if (at.undone !== null) return true
  }
  return false
}
