// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package broadcast

import "context"

// listener is one of those who hear a list.
type listener struct {
	broadcast *broadcast
	next      int // the number of the part that it hears next
	waiting   bool
	alone     bool
}

// hear hands the list to the hearer.
func (l *listener) hear(ctx context.Context, hearer Hearer) error {
	defer l.leave()
	defer context.AfterFunc(ctx, l.broadcast.wake)()
	for {
		p, err := l.take(ctx)
		if p == nil {
			return err
		}
		if err := p.deliver(hearer); err != nil {
			return err
		}
	}
}

// take waits for the next part. Without one, the list is at its end, or the error says why it is not.
func (l *listener) take(ctx context.Context) (*part, error) {
	b := l.broadcast
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case ctx.Err() != nil:
			return nil, b.stopped(context.Cause(ctx))
		case l.alone:
			return nil, errAlone
		case l.next < b.first+len(b.parts):
			p := b.parts[l.next-b.first]
			l.next++
			l.waiting = false
			b.drop()
			return p, nil
		case b.ended:
			return nil, b.err
		case !l.waiting:
			l.waiting = true
			b.changed.Broadcast() // the reader of the list may wait for just this
		}
		b.changed.Wait()
	}
}

// leave makes the listener one that nobody waits for.
func (l *listener) leave() {
	b := l.broadcast
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.listeners, l)
	b.drop()
	b.changed.Broadcast()
	if len(b.listeners) == 0 && b.stop != nil {
		b.stop()
	}
}

func (p *part) deliver(hearer Hearer) error {
	if p.restart {
		return hearer.Restart()
	}
	begin := 0
	for _, end := range p.ends {
		if err := hearer.Each(p.text[begin:end:end]); err != nil {
			return err
		}
		begin = end
	}
	return nil
}
