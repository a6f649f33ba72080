import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { type Conversation, PAGE_ENTRIES } from '../data/conversation.ts'
import { Heights } from '../data/heights.ts'
import { EntryView } from '../parts/entry.tsx'
import { Upcoming } from './upcoming.tsx'

/**
 * A conversation of any length. Only the pages around the visible part are in the document; empty space
 * of their measured or estimated height replaces the others. At the end, the view follows new entries;
 * anywhere else it does not move.
 */
const ENTRY_HEIGHT = 96
const NEAR_END = 80
/** Pages that scroll past quickly are not read. */
const SETTLE_MS = 60

export function Transcript(props: {
  readonly conversation: Conversation
  readonly at: number | null
}) {
  const { conversation, at } = props
  const box = useRef<HTMLDivElement>(null)
  const [heights] = useState(() => new Heights(PAGE_ENTRIES, ENTRY_HEIGHT))
  const isAtEnd = useRef(at === null)
  const lastTop = useRef(0)
  const wanted = useRef(at)
  const [range, setRange] = useState<readonly [number, number]>([0, 0])
  const [isAway, setAway] = useState(false)
  const tail = conversation.tail.value
  const pages = conversation.pages.value
  heights.resize(tail)
  const total = heights.pages

  const look = () => {
    const element = box.current
    if (element === null || total === 0) return
    const [top, bottom] = [element.scrollTop, element.scrollTop + element.clientHeight]
    const first = Math.max(0, heights.at(top) - 1)
    const last = Math.min(total - 1, heights.at(bottom) + 1)
    setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]))
  }
  const toEnd = () => {
    const element = box.current
    if (element !== null) element.scrollTop = element.scrollHeight
  }
  const onScroll = () => {
    const element = box.current
    if (element === null) return
    const left = element.scrollHeight - element.scrollTop - element.clientHeight
    // Text that grows above also moves the end away; only someone who scrolls up leaves it.
    const isUp = element.scrollTop < lastTop.current
    lastTop.current = element.scrollTop
    isAtEnd.current = left < NEAR_END || (isAtEnd.current && !isUp)
    setAway(!isAtEnd.current)
    look()
  }

  // Scrolls to the end, or to the requested entry, once the length is known.
  const isKnown = tail > 0
  useLayoutEffect(() => {
    wanted.current = at
    if (!isKnown || box.current === null) return
    if (at === null) toEnd()
    else {
      isAtEnd.current = false
      box.current.scrollTop = heights.top(Math.floor((at - 1) / PAGE_ENTRIES))
    }
    look()
  }, [isKnown, at])

  useEffect(() => {
    const timer = setTimeout(() => {
      for (let page = range[0]; page <= range[1]; page++) void conversation.ensure(page)
    }, SETTLE_MS)
    return () => clearTimeout(timer)
  }, [range, tail, conversation])

  useLayoutEffect(() => {
    const target = wanted.current
    if (target !== null) {
      const element = box.current?.querySelector(`[data-entry="${target}"]`)
      if (element) {
        element.scrollIntoView({ block: 'center' })
        wanted.current = null
      }
    } else if (isAtEnd.current) toEnd()
  })

  // Not during rendering: the rendered pages decide the heights, and the heights decide the pages.
  useEffect(look, [total])

  const lookNow = useRef(look)
  lookNow.current = look
  const observer = useRef<ResizeObserver | null>(null)
  observer.current ??= new ResizeObserver((changes) => {
    const element = box.current
    if (element === null) return
    let above = 0
    for (const { target } of changes) {
      if (!(target instanceof HTMLElement) || !target.isConnected) continue
      const page = Number(target.dataset['page'])
      if (!Number.isInteger(page) || target.dataset['page'] === '') continue
      const now = target.offsetHeight
      const was = heights.measured(page) ?? now
      heights.measure(page, now)
      if (target.offsetTop + was <= element.scrollTop) above += now - was
    }
    if (isAtEnd.current && wanted.current === null) toEnd()
    else if (above !== 0) element.scrollTop += above
    lookNow.current()
  })
  useEffect(() => () => observer.current?.disconnect(), [])
  const watch = useCallback((element: HTMLElement | null) => {
    if (element !== null) observer.current?.observe(element)
  }, [])

  const [first, last] = [Math.min(range[0], Math.max(0, total - 1)), Math.min(range[1], total - 1)]
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
  return (
    <div class="transcript-frame">
      <div
        class="transcript"
        ref={box}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-label="Conversation"
      >
        <div style={{ height: `${heights.top(first)}px` }} />
        {numbers.map((page) => {
          const entries = pages.get(page)
          const height = entries === undefined ? heights.of(page) : null
          return <PageView key={page} {...{ conversation, page, entries, height, at, watch }} />
        })}
        <div style={{ height: `${heights.top(total) - heights.top(last + 1)}px` }} />
        <Upcoming conversation={conversation} onGrow={() => isAtEnd.current && toEnd()} />
      </div>
      {isAway && (
        <button
          type="button"
          class="to-end"
          onClick={() => {
            isAtEnd.current = true
            toEnd()
            look()
          }}
        >
          ↓ Newest
        </button>
      )}
    </div>
  )
}

/** Memoized, because scrolling passes many pages. */
function PageView(props: {
  readonly conversation: Conversation
  readonly page: number
  readonly entries: readonly TranscriptEntry[] | undefined
  readonly height: number | null
  readonly at: number | null
  readonly watch: (element: HTMLElement | null) => void
}) {
  const { conversation, page, entries, height, at, watch } = props
  const effective = conversation.summary.value?.compaction ?? null
  const isOfClient = conversation.isOfClient.value
  return useMemo(
    () => (
      <div
        data-page={page}
        ref={watch}
        class="page"
        style={{ minHeight: height === null ? '' : `${height}px` }}
      >
        {entries?.map((entry) => (
          <EntryView
            key={entry.number}
            sessionId={conversation.id}
            entry={entry}
            isMarked={entry.number === at}
            effective={effective}
            onRevert={(number) => void conversation.revert(number)}
            onFork={isOfClient ? null : (number) => void conversation.fork(number)}
          />
        ))}
      </div>
    ),
    [conversation, page, entries, height, at, effective, isOfClient, watch],
  )
}
