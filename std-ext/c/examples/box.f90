! Tensogram in Fortran: the C library by iso_c_binding. Finds a field, reads a box of it into an array, and writes it packed.
!
!   gfortran box.f90 $(pkg-config --libs tgm) -o box && ./box forecast.tgm box.tgm
!
! The module has what the program calls; other functions of tgm.h are bound in the same way. A structure has the fields of C in
! their order, and begins with its size. Fortran has the first dimension first, and C the last one: a box of 20 x 30 values in C is an
! array (30, 20) here.
module tgm
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: tgm_error_ok = 0
  integer(c_int32_t), parameter :: tgm_dtype_float32 = 2, tgm_dtype_float64 = 3

  type, bind(c) :: tgm_decode_options
    integer(c_size_t) :: struct_size = 32
    integer(c_int32_t) :: native_byte_order = 1, restore_non_finite = 1, verify_hash = 0, threads = 0
    integer(c_int64_t) :: max_decoded_bytes = 0
  end type

  type, bind(c) :: tgm_read
    integer(c_size_t) :: struct_size = 48
    type(c_ptr) :: selection = c_null_ptr, range_starts = c_null_ptr, range_counts = c_null_ptr
    integer(c_size_t) :: num_ranges = 0
    type(c_ptr) :: options = c_null_ptr
  end type

  type, bind(c) :: tgm_object_input
    integer(c_size_t) :: struct_size = 112
    integer(c_int32_t) :: dtype = tgm_dtype_float32, byte_order = 0
    integer(c_size_t) :: ndim = 0
    type(c_ptr) :: shape = c_null_ptr, data = c_null_ptr
    integer(c_size_t) :: size = 0
    type(c_ptr) :: encoding = c_null_ptr, filter = c_null_ptr, compression = c_null_ptr
    type(c_ptr) :: params_json = c_null_ptr, metadata_json = c_null_ptr, metadata = c_null_ptr
    real(c_double) :: within = 0
    integer(c_int32_t) :: bits = 0, lossless = 0
  end type

  interface
    function tgm_archive_open(source, archive) bind(c) result(code)
      import
      character(kind=c_char), intent(in) :: source(*)
      type(c_ptr), intent(out) :: archive
      integer(c_int) :: code
    end function
    function tgm_archive_query(archive, query, threads, list) bind(c) result(code)
      import
      type(c_ptr), value :: archive
      character(kind=c_char), intent(in) :: query(*)
      integer(c_int32_t), value :: threads
      type(c_ptr), intent(out) :: list
      integer(c_int) :: code
    end function
    function tgm_object_list_open(list, archive, index, object) bind(c) result(code)
      import
      type(c_ptr), value :: list, archive
      integer(c_size_t), value :: index
      type(c_ptr), intent(out) :: object
      integer(c_int) :: code
    end function
    function tgm_read_f32(object, request, values, count) bind(c) result(code)
      import
      type(c_ptr), value :: object
      type(tgm_read), intent(in) :: request
      real(c_float), intent(out) :: values(*)
      integer(c_size_t), value :: count
      integer(c_int) :: code
    end function
    function tgm_writer_create(path, options, writer) bind(c) result(code)
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: writer
      integer(c_int) :: code
    end function
    function tgm_writer_object(writer, object) bind(c) result(code)
      import
      type(c_ptr), value :: writer
      type(tgm_object_input), intent(in) :: object
      integer(c_int) :: code
    end function
    function tgm_writer_finish(writer, bytes) bind(c) result(code)
      import
      type(c_ptr), value :: writer, bytes
      integer(c_int) :: code
    end function
    function tgm_last_error() bind(c) result(text)
      import
      type(c_ptr) :: text
    end function
    subroutine tgm_archive_close(archive) bind(c)
      import
      type(c_ptr), value :: archive
    end subroutine
    subroutine tgm_object_free(object) bind(c)
      import
      type(c_ptr), value :: object
    end subroutine
    subroutine tgm_object_list_free(list) bind(c)
      import
      type(c_ptr), value :: list
    end subroutine
    subroutine tgm_writer_free(writer) bind(c)
      import
      type(c_ptr), value :: writer
    end subroutine
    function strlen(text) bind(c) result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! Ends the program with the text of the last error, if a call failed.
  subroutine check(code)
    integer(c_int), intent(in) :: code
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: last
    if (code == tgm_error_ok) return
    last = tgm_last_error()
    if (c_associated(last)) then
      call c_f_pointer(last, text, [strlen(last)])
      write (*, *) text
    end if
    stop 1
  end subroutine
end module

program box
  use tgm
  implicit none

  character(len=4096) :: from, to
  character(len=:, kind=c_char), allocatable, target :: selection, metadata
  type(c_ptr) :: archive, found, field, writer
  type(tgm_decode_options), target :: checked
  type(tgm_read) :: request
  type(tgm_object_input) :: object
  real(c_float), target :: values(30, 20)
  integer(c_int64_t), target :: shape(2) = [20, 30]

  call get_command_argument(1, from)
  call get_command_argument(2, to)
  call check(tgm_archive_open(trim(from)//c_null_char, archive))
  call check(tgm_archive_query(archive, "mars.param = 2t and mars.step = 24"//c_null_char, 0, found))
  call check(tgm_object_list_open(found, archive, 0_c_size_t, field))

  checked%verify_hash = 1
  selection = "40:60, 0:30"//c_null_char
  request%selection = c_loc(selection)
  request%options = c_loc(checked)
  call check(tgm_read_f32(field, request, values, size(values, kind=c_size_t)))

  metadata = '{"mars":{"param":"2t"}}'//c_null_char
  object%dtype = tgm_dtype_float32
  object%ndim = 2
  object%shape = c_loc(shape)
  object%data = c_loc(values)
  object%size = size(values, kind=c_size_t) * c_sizeof(values(1, 1))
  object%metadata_json = c_loc(metadata)
  object%within = 0.01d0
  call check(tgm_writer_create(trim(to)//c_null_char, c_null_ptr, writer))
  call check(tgm_writer_object(writer, object))
  call check(tgm_writer_finish(writer, c_null_ptr))

  call tgm_writer_free(writer)
  call tgm_object_free(field)
  call tgm_object_list_free(found)
  call tgm_archive_close(archive)
end program
