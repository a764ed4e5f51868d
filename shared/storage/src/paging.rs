//! Keyset pagination: the reading of one page of a list.
//!
//! A list is sorted by a key, one or more columns that are unique together. A page begins after an anchor,
//! the key of the last item before the page, so that creating or deleting items between two requests does not
//! shift the pages.

mod slice;

pub use slice::{MAX_SEARCHED, PAGE_SIZE, PageSlice, Sorting, begins_with};

use crate::db::Error;
use foundation::list_query::Direction;

/// An item of a paginated list.
pub trait HasCursor {
    /// The form of the positions in the list.
    type Cursor: Clone;

    /// Returns the item's position in its list.
    fn cursor(&self) -> Self::Cursor;
}

/// `has_cursor!(Item: created_at, id)` says which fields of an item are its position in a list that is sorted
/// by time and id.
#[macro_export]
macro_rules! has_cursor {
    ($item:ident: $($created_at:ident).+, $($id:ident).+) => {
        impl $crate::paging::HasCursor for $item {
            type Cursor = ::foundation::cursor::Cursor;

            fn cursor(&self) -> ::foundation::cursor::Cursor {
                ::foundation::cursor::Cursor {
                    created_at: self.$($created_at).+,
                    id: self.$($id).+,
                }
            }
        }
    };
}

/// A page of a list.
#[derive(Debug)]
pub struct Page<T: HasCursor> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Whether the page was read from the beginning of the list. If not, there may be items before it.
    pub is_first: bool,
    /// The position at which the search for items ended, if it ended before the list and before the page was
    /// full.
    pub rest: Option<T::Cursor>,
    /// The same position of a page that was read backward.
    pub rest_before: Option<T::Cursor>,
}

impl<T: HasCursor> Page<T> {
    fn new(mut items: Vec<T>, is_first: bool, rest: Option<T::Cursor>) -> Self {
        items.truncate(PAGE_SIZE);
        Self {
            items,
            is_first,
            rest,
            rest_before: None,
        }
    }

    /// Returns the only page of an empty list.
    pub fn empty() -> Self {
        Self::new(Vec::new(), true, None)
    }

    /// Returns the cursor of the next page, which is that of the last item; `None` if this page is not full,
    /// because no items follow it. A page that is not full for another reason has its own.
    pub fn next(&self) -> Option<T::Cursor> {
        let is_followed = self.items.len() == PAGE_SIZE || self.rest_before.is_some();
        let last = self.items.last().map(T::cursor).filter(|_| is_followed);
        last.or_else(|| self.rest.clone())
            .or_else(|| self.rest_before.clone())
    }

    /// Returns the cursor of the page before this one, unless this one is the first; `None` if the first page
    /// is shown in its place, because this one is after the end.
    pub fn previous(&self) -> Option<T::Cursor> {
        let first = || self.items.first().map(T::cursor);
        let rest_before = self.rest_before.clone();
        rest_before.or_else(first).or_else(|| self.rest.clone())
    }
}

/// Reads the page in this direction from the anchor, or the first page if there is no anchor. `fetch` reads
/// the items of a slice, after the anchor that it gets if the slice has one.
pub async fn read_page<T, A, F>(
    direction: Direction,
    sorting: Sorting,
    anchor: Option<A>,
    fetch: impl Fn(PageSlice, Option<A>) -> F,
) -> Result<Page<T>, Error>
where
    T: HasCursor,
    F: Future<Output = Result<Vec<T>, Error>>,
{
    search_page(direction, sorting, anchor, move |slice, anchor| {
        let items = fetch(slice, anchor);
        async move { Ok::<_, Error>((items.await?, None)) }
    })
    .await
}

/// Like [`read_page`], for a list whose items must be searched. `search` also returns the position where it
/// stopped, if it stopped before the slice was full.
pub async fn search_page<T, A, F>(
    direction: Direction,
    sorting: Sorting,
    anchor: Option<A>,
    search: impl Fn(PageSlice, Option<A>) -> F,
) -> Result<Page<T>, Error>
where
    T: HasCursor,
    F: Future<Output = Result<(Vec<T>, Option<T::Cursor>), Error>>,
{
    let is_backward = direction == Direction::Prev;
    if let Some(anchor) = anchor {
        let sorting = if is_backward { sorting.reversed() } else { sorting };
        let (items, rest) = search(PageSlice::of(sorting, true), Some(anchor)).await?;
        let is_full = items.len() > PAGE_SIZE;
        if !is_backward {
            return Ok(Page::new(items, false, rest));
        }
        // A backward page with nothing before it is the first page, which is read forward so that it is full.
        if is_full || rest.is_some() {
            let mut page = Page::new(items, false, None);
            page.items.reverse();
            page.rest_before = rest.filter(|_| !is_full);
            return Ok(page);
        }
    }
    let (items, rest) = search(PageSlice::of(sorting, false), None).await?;
    Ok(Page::new(items, true, rest))
}

/// Reads all pages of a list, for a command. `read` reads the page after a cursor, or the first one, with
/// which it begins again if the item of the cursor was deleted.
pub async fn read_all<T: HasCursor>(
    read: impl AsyncFn(Option<T::Cursor>) -> Result<Page<T>, Error>,
) -> Result<Vec<T>, Error> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let page = read(cursor).await?;
        if page.is_first {
            items.clear();
        }
        cursor = page.next();
        items.extend(page.items);
        if cursor.is_none() {
            return Ok(items);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foundation::list_query::Order;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::future::ready;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    impl HasCursor for i64 {
        type Cursor = Self;

        fn cursor(&self) -> Self {
            *self
        }
    }

    /// Returns a page of the list of the numbers from 0 to `n` − 1.
    fn page(n: i64, order: Order, anchor: Option<i64>, direction: Direction) -> Page<i64> {
        let fetch = |slice: PageSlice, anchor: Option<i64>| {
            let numbers = after(n, slice, anchor).into_iter();
            ready(Ok(numbers.take(PAGE_SIZE + 1).collect()))
        };
        wait(read_page(direction, Sorting::by(&["id"], order), anchor, fetch))
    }

    /// Returns a page of the multiples of `step` among these numbers, 30 of which a page searches.
    fn searched_page(n: i64, step: i64, anchor: Option<i64>, direction: Direction) -> Page<i64> {
        let search = |slice: PageSlice, anchor: Option<i64>| {
            let mut numbers = after(n, slice, anchor);
            let rest = numbers.get(29).copied();
            numbers.truncate(30);
            numbers.retain(|number| number % step == 0);
            numbers.truncate(PAGE_SIZE + 1);
            ready(Ok((numbers, rest)))
        };
        let sorting = Sorting::by(&["id"], Order::Ascending);
        wait(search_page(direction, sorting, anchor, search))
    }

    fn after(n: i64, slice: PageSlice, anchor: Option<i64>) -> Vec<i64> {
        assert_eq!(slice.is_anchored, anchor.is_some());
        match slice.sorting.order {
            Order::Ascending => (anchor.map_or(0, |at| at + 1)..n).collect(),
            Order::Descending => (0..anchor.unwrap_or(n).min(n)).rev().collect(),
        }
    }

    /// Returns the result of a future that need not wait.
    fn wait<T>(future: impl Future<Output = Result<T, Error>>) -> T {
        let mut context = Context::from_waker(Waker::noop());
        match pin!(future).poll(&mut context) {
            Poll::Ready(result) => result.unwrap(),
            Poll::Pending => unreachable!(),
        }
    }

    fn numbers(n: i64, order: Order) -> Vec<i64> {
        match order {
            Order::Ascending => (0..n).collect(),
            Order::Descending => (0..n).rev().collect(),
        }
    }

    fn orders() -> impl Strategy<Value = Order> {
        prop_oneof![Just(Order::Ascending), Just(Order::Descending)]
    }

    #[test]
    fn a_list_is_read_again_after_the_item_of_a_cursor_was_deleted() {
        let calls = Cell::new(0);
        let read = async |cursor: Option<i64>| {
            calls.set(calls.get() + 1);
            // The third page is asked for after an item that is gone.
            let cursor = cursor.filter(|_| calls.get() != 3);
            Ok::<_, Error>(page(100, Order::Ascending, cursor, Direction::Next))
        };
        assert_eq!(wait(read_all(read)), numbers(100, Order::Ascending));
        assert_eq!(calls.get(), 8);
    }

    proptest! {
        #[test]
        fn paging_forward_returns_every_item_once(n in 0_i64..100, order in orders()) {
            let (mut seen, mut anchor) = (Vec::<i64>::new(), None);
            loop {
                let page = page(n, order, anchor, Direction::Next);
                prop_assert_eq!(page.is_first, anchor.is_none());
                seen.extend(&page.items);
                match page.next() {
                    Some(cursor) => anchor = Some(cursor),
                    None => break,
                }
            }
            prop_assert_eq!(seen, numbers(n, order));
        }

        #[test]
        fn a_backward_page_ends_before_its_anchor_or_is_the_first_page(n in 1_i64..100, at in 0_usize..100, order in orders()) {
            let all = numbers(n, order);
            let at = at % all.len();
            let page = page(n, order, Some(all[at]), Direction::Prev);
            let begin = at.saturating_sub(PAGE_SIZE);
            prop_assert_eq!(page.is_first, begin == 0);
            prop_assert_eq!(&page.items, &all[begin..all.len().min(begin + PAGE_SIZE)]);
        }

        #[test]
        fn a_bounded_search_skips_nothing_in_either_direction(n in 1_i64..400, step in 1_i64..90) {
            let all: Vec<i64> = (0..n).filter(|number| number % step == 0).collect();
            let (mut seen, mut last, mut cursor) = (Vec::<i64>::new(), 0, None);
            loop {
                let page = searched_page(n, step, cursor, Direction::Next);
                seen.extend(&page.items);
                last = page.items.first().copied().unwrap_or(last);
                cursor = page.next();
                if cursor.is_none() {
                    break;
                }
            }
            prop_assert_eq!(&seen, &all);
            let (mut seen, mut page) = (vec![last], searched_page(n, step, Some(last), Direction::Prev));
            while !page.is_first {
                let next = searched_page(n, step, page.next(), Direction::Next);
                prop_assert!(next.items.first().is_none_or(|item| *item == seen[0]));
                seen.splice(0..0, page.items.iter().copied());
                page = searched_page(n, step, page.previous(), Direction::Prev);
            }
            let begin = all.iter().position(|number| *number == seen[0]).unwrap();
            prop_assert!(all[begin..].starts_with(&seen));
            prop_assert!(page.items.starts_with(&all[..begin]));
        }
    }
}
